import { basename } from 'node:path';
import { shellQuote } from '../../support/quote.js';
import { firstBytes, visibleText } from '../../support/text.js';
import type { ExecRequest } from './exec-policy.js';

/** Bytes of a program's arguments that are shown. */
const SHOWN_BYTES = 4096;
const SHOWN_PARENTS = 5;

/**
 * Describes a program for whoever is asked whether it may be executed, in lines: the program with its arguments
 * as words of shell, its directory with the programs that it is run by, and what the rule says, if it says
 * anything. What a terminal would obey is spelled out, and more than 4 KiB of arguments are counted.
 */
export function describeExec(request: ExecRequest): readonly string[] {
  const { say } = request;
  const told = say === undefined ? [] : [`if not, the command is told: ${visibleText(say)}`];
  return [programText(request), originText(request), ...told];
}

function programText({ program, argv }: ExecRequest): string {
  const [name = ''] = argv;
  const whole = visibleText(shellQuote(argv));
  const shown = firstBytes(whole, SHOWN_BYTES);
  const rest = shown === whole ? '' : `… and ${whole.length - shown.length} characters more`;
  // The name is what the caller calls it.
  const real = basename(program) === basename(name) ? '' : ` (${visibleText(program)})`;
  return `${shown}${rest}${real}`;
}

/** Returns where a program is to be executed, and by which ones: `in /work, run by make < bash`. */
function originText({ cwd, parents }: ExecRequest): string {
  const names = parents.map(({ program }) => visibleText(basename(program)));
  // A process is a copy of its parent until it executes something.
  const different = names.filter((name, index) => name !== names[index - 1]);
  const by = different.slice(0, SHOWN_PARENTS);
  const more = different.length > SHOWN_PARENTS ? ' < …' : '';
  const from = by.length === 0 ? '' : `, run by ${by.join(' < ')}${more}`;
  return `in ${visibleText(cwd)}${from}`;
}
