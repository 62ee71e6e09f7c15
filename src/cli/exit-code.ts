import { exitCodeOf, type Outcome } from '../index.js';
import { signalExitCode } from '../support/signals.js';
import type { OutputClosedError } from './standard-output.js';

/** The exit code when the arguments were wrong. */
export const USAGE_ERROR = 2;

/** The exit code when the command has ended in an unknown way. */
export const UNKNOWN_STATUS = 125;

/**
 * Returns the exit code for the end of a command.
 *
 * @param endedBy The signal for which forkline has cancelled the command, if it has.
 */
export function outcomeCode(outcome: Outcome, endedBy: NodeJS.Signals | undefined): number {
  const isOurs = outcome.kind === 'cancelled' && endedBy !== undefined;
  return isOurs ? signalExitCode(endedBy) : exitCodeOf(outcome);
}

/** The exit code when the command was not started for a reason outside of it, as in shells. */
export const NOT_STARTED = 126;

/** Codes of the loader's errors for a missing addon, or one for another machine. */
const ADDON_CODES: readonly unknown[] = [
  'FORKLINE_NO_BINDING',
  'FORKLINE_NOEXEC',
  'FORKLINE_UNSUPPORTED_PLATFORM',
  'ERR_DLOPEN_FAILED',
];

/** Returns whether an error means that there is no addon for this machine. */
export function isAddonError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && ADDON_CODES.includes(error.code);
}

/** The exit code when the output could not be written, for instance to a full disk. */
const NOT_WRITTEN = 1;

/** Returns the exit code when not all output was written: not 0, and not the code of SIGPIPE. */
export function writtenCode(code: number, failure: OutputClosedError | undefined): number {
  if (failure === undefined) return code;
  const brokenPipe = signalExitCode('SIGPIPE');
  if (code !== 0 && code !== brokenPipe) return code;
  return failure.quiet ? brokenPipe : NOT_WRITTEN;
}
