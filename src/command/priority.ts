import { InputError, showValue } from '../support/errors.js';

/** Who gets the processors where both want them: the host before the command, or each its share. */
export type Priority = 'low' | 'normal';

/**
 * @throws {InputError} It is given, and none.
 */
export function checkPriority(priority: unknown): void {
  if (priority === undefined || priority === 'low' || priority === 'normal') return;
  throw new InputError(`priority: expected 'low' or 'normal', got ${showValue(priority)}`);
}
