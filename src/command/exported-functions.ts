import { InputError, showValue } from '../support/errors.js';

/**
 * Returns the host's exported bash functions of these names as variables, for the option `env`. Commands inherit
 * none by themselves, since a function may replace any program; these are functions that the caller knows, such
 * as `module` and `ml` of Lmod. Names of which the host has no exported function are left out.
 *
 * @example await run('module load gcc', { env: exportedFunctions(['module', 'ml']) });
 * @throws {InputError} `names` is no array of strings.
 */
export function exportedFunctions(names: readonly string[]): Record<string, string> {
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw new InputError(`names: expected an array of strings, got ${showValue(names)}`);
  }
  const found: Record<string, string> = {};
  for (const name of names) {
    // As bash spells it since its fix of 2014.
    const variable = `BASH_FUNC_${name}%%`;
    const value = process.env[variable];
    if (value !== undefined) found[variable] = value;
  }
  return found;
}
