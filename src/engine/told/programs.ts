import { basename } from 'node:path';
import { quoteWord } from '../../support/quote.js';
import type { ExecReason, ExecutedProgram } from '../executed.js';
import type { Denial } from '../sandbox-report.js';

/** What a keeper has told of a command, with the programs apart. */
interface ToldPrograms {
  readonly executed: readonly ExecutedProgram[];
  /** The number of those that are not told. */
  readonly more: number;
  /** The words about other things. */
  readonly others: readonly string[];
}

const TOLD = 'exec=';
const MORE = 'exec-more=';

/** Parses the words about programs. */
export function toPrograms(words: readonly string[]): ToldPrograms {
  const executed: ExecutedProgram[] = [];
  const others: string[] = [];
  let more = 0;
  for (const word of words) {
    if (word.startsWith(TOLD)) executed.push(toExecuted(word.slice(TOLD.length)));
    else if (word.startsWith(MORE)) more += Number(word.slice(MORE.length));
    else others.push(word);
  }
  return { executed, more, others };
}

/** Parses a program: `DECISION,WHY,EXACT,PID,PARENT,AT,PROGRAM,BY,SAY,COUNT,ARG0,…`, texts percent-encoded. */
function toExecuted(value: string): ExecutedProgram {
  const [decision, why, exact, pid, parent, at, ...texts] = value.split(',');
  const [program = '', by = '', say = '', count, ...argv] = texts.map(decodeText);
  const moreArgv = Number(count) - argv.length;
  return {
    program,
    argv,
    ...(moreArgv > 0 && { moreArgv }),
    pid: Number(pid),
    parent: Number(parent),
    at: Number(at),
    decision: decision === 'allow' ? 'allow' : 'deny',
    why: why as ExecReason,
    exact: exact === '1',
    ...(by !== '' && { by }),
    ...(say !== '' && { say }),
  };
}

/** Decodes percent-encoded bytes; those that are no text become U+FFFD. */
function decodeText(encoded: string): string {
  if (!encoded.includes('%')) return encoded;
  const bytes = encoded.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Returns the denials of programs, equal ones once. */
export function deniedPrograms(executed: readonly ExecutedProgram[]): Denial[] {
  const denials = new Map<string, Denial>();
  for (const one of executed) {
    if (one.decision === 'allow') continue;
    const { why, by, say } = one;
    const denial: Denial = {
      kind: 'exec',
      target: lineOf(one),
      rule: 'exec',
      source: 'kernel',
      why,
      ...(by !== undefined && { by }),
      ...(say !== undefined && { say }),
    };
    const name = JSON.stringify(denial);
    if (!denials.has(name)) denials.set(name, denial);
  }
  return [...denials.values()];
}

/** The most characters of the line that names a denied program. */
const LONGEST_LINE = 300;

/** Programs that are many in one file, by the names with which they are called. */
export const MULTI_CALL: ReadonlySet<string> = new Set(['busybox', 'toybox', 'coreutils']);

/** Returns the name of a program with its arguments, as one would type them. */
function lineOf({ program, argv: [called = '', ...rest], moreArgv }: ExecutedProgram): string {
  const file = basename(program);
  // A program can be called by any name; only one that is many goes by it.
  const name = MULTI_CALL.has(file) && called !== '' ? basename(called) : file;
  const more = moreArgv === undefined ? '' : ' …';
  const line = [name, ...rest].map((word) => quoteWord(word, 'plain')).join(' ') + more;
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`;
}
