import { checkWellFormed } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';

/**
 * Checks `inheritEnv`, for callers without a type checker: an unknown word must not count as 'all'.
 *
 * @throws {InputError} `inherit` is none of the three words.
 */
export function checkInherit(inherit: unknown): void {
  if (inherit === 'scrubbed' || inherit === 'all' || inherit === 'none') return;
  const got = showValue(inherit);
  throw new InputError(`inheritEnv: expected "scrubbed", "all" or "none", got ${got}`);
}

/** @throws {InputError} `env` is no object. */
export function checkEnvironment(overrides: unknown): void {
  if (overrides === undefined || (typeof overrides === 'object' && overrides !== null)) return;
  throw new InputError(`env: expected an object, got ${showValue(overrides)}`);
}

/**
 * Checks that names and values are well-formed text. `resolveEnvironment` checks everything else.
 *
 * @throws {InputError} A name or a value has half of a surrogate pair.
 */
export function checkVariables(env: object | undefined): void {
  for (const [name, value] of Object.entries(env ?? {})) {
    checkWellFormed('env', name);
    if (typeof value === 'string') checkWellFormed(`env.${name}`, value);
  }
}
