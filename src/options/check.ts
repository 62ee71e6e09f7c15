import { isMissing } from '../support/checks.js';
import type { CommandOptions } from './command-options.js';
import { OPTIONS, type OptionName } from './table.js';
import { checkPty } from './terminal.js';

/**
 * Checks the given options of a command, each by its row in the table. Ignores other names: they belong to
 * the caller, which has checked them.
 *
 * @throws {InputError} Names the option, the expected value and the given one.
 */
export function checkOptions(options: CommandOptions): void {
  for (const name in options) {
    const value: unknown = options[name as OptionName];
    if (!isMissing(value) && Object.hasOwn(OPTIONS, name)) OPTIONS[name as OptionName].check(value);
  }
  if (options.pty) checkPty(options.pty, options);
}
