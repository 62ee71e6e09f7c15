import { checkWellFormed } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';

/**
 * For callers without a type checker: what is not understood must not pass for `all`.
 *
 * @throws {InputError} It is not understood.
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
 * What of an environment is not checked where it is made: names and values as text.
 *
 * @throws {InputError} One has half of a character.
 */
export function checkVariables(env: object | undefined): void {
  for (const [name, value] of Object.entries(env ?? {})) {
    checkWellFormed('env', name);
    if (typeof value === 'string') checkWellFormed(`env.${name}`, value);
  }
}
