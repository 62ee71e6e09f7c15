import { exitCodeOf, InputError, LaunchError } from '../../index.js';
import { signalExitCode } from '../../support/signals.js';
import { isAddonError, NOT_STARTED, USAGE_ERROR } from '../exit-code.js';
import { note } from '../notes.js';

/**
 * Prints why the command did not begin. Returns the exit code for that.
 *
 * @throws Other errors than those of a start.
 */
export function explain(error: unknown, endedBy: NodeJS.Signals | undefined): number {
  // The command was ended before it began: `spawn()` rejects with the reason of the signal.
  if (endedBy !== undefined) return signalExitCode(endedBy);
  if (error instanceof InputError) {
    note(error.message);
    return USAGE_ERROR;
  }
  if (!(error instanceof LaunchError || isAddonError(error))) throw error;
  note(error.message);
  return error instanceof LaunchError ? exitCodeOf(error) : NOT_STARTED;
}

/** Describes such an error for a program. */
export function describe(error: unknown): object {
  if (error instanceof InputError) return { kind: 'input', message: error.message };
  if (isAddonError(error)) return { kind: 'addon', message: error.message };
  if (!(error instanceof LaunchError)) return { kind: 'cancelled' };
  const { code, step, subject, message } = error;
  return { kind: 'launch', code, step, subject, message };
}
