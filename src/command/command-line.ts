import { checkWellFormed } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { shellQuote } from '../support/quote.js';

/** Shell text, or a program and its arguments, which run without a shell. */
export type CommandLine = string | readonly string[];

/**
 * Checks a command's text.
 *
 * @throws {InputError} The command is blank, has a NUL character, which no argument can carry, or has
 *   half of a surrogate pair.
 */
export function checkCommand(command: string): void {
  if (command.trim() === '') {
    throw new InputError(`command: expected a shell command, got ${showValue(command)}`);
  }
  const nul = command.indexOf('\0');
  if (nul !== -1) {
    throw new InputError(`command: expected text without NUL, got one at index ${nul}`);
  }
  checkWellFormed('command', command);
}

/**
 * Checks a command where only shell text is allowed.
 *
 * @throws {InputError} `command` is no string, or {@link checkCommand} refuses it.
 */
export function checkShellText(command: unknown): asserts command is string {
  if (typeof command !== 'string') {
    throw new InputError(`command: expected a string, got ${showValue(command)}`);
  }
  checkCommand(command);
}

/**
 * Checks a command that is shell text, or a program and its arguments.
 *
 * @param beside The options of the same call.
 * @throws {InputError} `command` is neither, or has a NUL or half of a surrogate pair; or an option for
 *   shells is given with a program.
 */
export function checkCommandLine(
  command: unknown,
  beside: { readonly shell?: unknown; readonly followDirectory?: unknown },
): asserts command is CommandLine {
  if (typeof command === 'string') {
    checkCommand(command);
    return;
  }
  if (!Array.isArray(command) || command.length === 0) {
    const expected = 'a string, or an array of a program and its arguments';
    throw new InputError(`command: expected ${expected}, got ${showValue(command)}`);
  }
  command.forEach(checkWord);
  for (const name of ['shell', 'followDirectory'] as const) {
    const value = beside[name];
    if (value === undefined || value === false) continue;
    const expected = 'nothing beside a program and its arguments, which run without a shell';
    throw new InputError(`${name}: expected ${expected}, got ${showValue(value)}`);
  }
}

function checkWord(word: unknown, index: number): void {
  const name = `command[${index}]`;
  const isProgram = index === 0;
  if (typeof word !== 'string' || (isProgram && word === '')) {
    const expected = isProgram ? 'the name or the path of a program' : 'a string';
    throw new InputError(`${name}: expected ${expected}, got ${showValue(word)}`);
  }
  const nul = word.indexOf('\0');
  if (nul !== -1) {
    throw new InputError(`${name}: expected text without NUL, got one at index ${nul}`);
  }
  checkWellFormed(name, word);
}

/** The text of a command in results; for a program and its arguments, the shell text that would run them. */
export function shellTextOf(command: CommandLine): string {
  return typeof command === 'string' ? command : shellQuote(command);
}
