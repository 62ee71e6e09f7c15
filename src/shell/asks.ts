import type { Word } from 'unbash';
import type { ToolAbility } from './reading.js';
import { programName } from './wrappers.js';

/** What the arguments of a program ask of a tool in its place. */
type Asks = (args: string) => readonly ToolAbility[];

const NOTHING: readonly ToolAbility[] = [];

/** A part by lines; by bytes with `-c`, and with NUL in place of newlines. */
const part: Asks = (args) =>
  /(?:^|\s)-(?:[a-z]*[cz]|-bytes|-zero)/.test(args) ? ['bytes'] : ['lines'];

/** Numbers of lines; the other options change or spell out what is shown. */
const cat: Asks = (args) => {
  if (/(?:^|\s)-(?:[A-Za-z]*[AbeEstTv]|-(?!number$|number\s))/.test(args)) return ['bytes'];
  return /(?:^|\s)-(?:[A-Za-z]*n|-number)/.test(args) ? ['lines'] : NOTHING;
};

/** Options that a search has by itself: where, in any case, by number of line, as an expression. */
const PLAIN_SEARCH = /^-(?:[rRnHiEFsI]*e?|-(?:colou?r.*|line-number|ignore-case|recursive))$/;
const search: Asks = (args) => plainOptions(args, PLAIN_SEARCH);

const PLAIN_FIND =
  /^-(?:i?name|i?path|i?wholename|i?regex|type|regextype|print|t|g|e|-(?:type|glob|extension|regex).*)$/;
const find: Asks = (args) =>
  /(?:^|\s)[!(]/.test(args) ? ['options'] : plainOptions(args, PLAIN_FIND);

function plainOptions(args: string, plain: RegExp): readonly ToolAbility[] {
  const options = args.split(' ').filter((word) => /^-./.test(word));
  return options.every((option) => plain.test(option)) ? NOTHING : ['options'];
}

const ASKS: ReadonlyMap<string, Asks> = new Map(
  Object.entries({
    head: part,
    tail: part,
    nl: (() => ['lines']) as Asks,
    cat,
    grep: search,
    egrep: search,
    fgrep: search,
    rg: search,
    ripgrep: search,
    ag: search,
    ack: search,
    find,
    fd: find,
    fdfind: find,
    locate: find,
  }),
);

/**
 * Returns what a program's arguments ask of a tool.
 *
 * @param words The words as rules see them, the program first.
 */
export function askedByProgram([program = '', ...args]: readonly string[]): readonly ToolAbility[] {
  return ASKS.get(programName(program))?.(args.join(' ')) ?? NOTHING;
}

/** An internal URL, also as the value of an option. */
const URL = /(?:^|[=@])(?:[a-z][\w+.-]*:\/\/|local:\/)/i;

/** Escapes of bytes in what `printf`, `echo -e` and `$'…'` write. */
const BYTES = /\\(?:x[\da-f]|[0-7]{2,3}|0)/i;
const GLOBS: ReadonlySet<string> = new Set(['Glob', 'ExtendedGlob', 'BraceExpansion']);

/** Returns what the words of a command ask of a tool: URLs, patterns, bytes. */
export function askedByWords(words: readonly Word[]): readonly ToolAbility[] {
  const asked: ToolAbility[] = [];
  if (words.some(({ value }) => URL.test(value))) asked.push('urls');
  if (words.some(({ parts = [] }) => parts.some(({ type }) => GLOBS.has(type))))
    asked.push('globs');
  if (words.some(({ text }) => BYTES.test(text))) asked.push('bytes');
  return asked;
}
