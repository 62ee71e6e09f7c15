import { isMissing } from '../support/checks.js';
import type { CommandOptions } from './command-options.js';
import { OPTIONS, type OptionName } from './table.js';
import { checkPty } from './terminal.js';

/**
 * Checks the options of a command that are given, each by its row in the table. Other names pass: they are
 * the road's own, which has checked them.
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
