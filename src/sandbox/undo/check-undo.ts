import { type OptionNames, readOptions } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import type { SandboxPolicy } from '../policy.js';
import type { SandboxUndo } from './undo-policy.js';

const NAMES: OptionNames<SandboxUndo> = { maxBytes: true, whenFull: true };

/**
 * @param name The option as the caller knows it: `undo`, or `sandbox.undo`.
 * @throws {InputError} The value is not valid.
 */
export function checkUndo(name: string, undo: unknown): void {
  if (undo === undefined || undo === null || typeof undo === 'boolean') return;
  if (typeof undo !== 'object' || Array.isArray(undo)) {
    const expected = 'true, false or { maxBytes, whenFull }';
    throw new InputError(`${name}: expected ${expected}, got ${showValue(undo)}`);
  }
  const within = `${name}.`;
  const { maxBytes, whenFull } = readOptions<SandboxUndo>(name, undo, NAMES, { within });
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && maxBytes >= 0)) {
    const expected = 'a number of bytes, 0 or more';
    throw new InputError(`${within}maxBytes: expected ${expected}, got ${showValue(maxBytes)}`);
  }
  if (whenFull === undefined || whenFull === 'go-on' || whenFull === 'refuse') return;
  const got = showValue(whenFull);
  throw new InputError(`${within}whenFull: expected 'go-on' or 'refuse', got ${got}`);
}

/** @throws {InputError} The value is not valid, or can't be had with the rest of the policy. */
export function checkUndoOf({ undo, require }: SandboxPolicy): void {
  checkUndo('sandbox.undo', undo);
  if (!undo || require !== 'landlock') return;
  const expected = "false with require 'landlock', by which no change is seen";
  throw new InputError(`sandbox.undo: expected ${expected}, got ${showValue(undo)}`);
}
