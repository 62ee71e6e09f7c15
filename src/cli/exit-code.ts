import { exitCodeOf, type Outcome } from '../index.js';
import { signalExitCode } from '../support/signals.js';
import type { OutputClosedError } from './standard-output.js';

/** The arguments were wrong. */
export const USAGE_ERROR = 2;

/** It ended, and nobody can say how. */
export const UNKNOWN_STATUS = 125;

/**
 * The exit code for how the command ended.
 *
 * @param endedBy The signal because of which we cancelled it, if we did.
 */
export function outcomeCode(outcome: Outcome, endedBy: NodeJS.Signals | undefined): number {
  const isOurs = outcome.kind === 'cancelled' && endedBy !== undefined;
  return isOurs ? signalExitCode(endedBy) : exitCodeOf(outcome);
}

/** Something else than the command kept it from starting, as shells tell it. */
export const NOT_STARTED = 126;

/** How the loader calls what it cannot find, or what does not run here. */
const ADDON_CODES: readonly unknown[] = [
  'FORKLINE_NO_BINDING',
  'FORKLINE_UNSUPPORTED_PLATFORM',
  'ERR_DLOPEN_FAILED',
];

/** Whether an error is that there is no addon for this machine. */
export function isAddonError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && ADDON_CODES.includes(error.code);
}

/** The output could not be written, to a full disk for instance. */
const NOT_WRITTEN = 1;

/** The code when the output was not all written: not 0, and not that of our own SIGPIPE. */
export function writtenCode(code: number, failure: OutputClosedError | undefined): number {
  if (failure === undefined) return code;
  const brokenPipe = signalExitCode('SIGPIPE');
  if (code !== 0 && code !== brokenPipe) return code;
  return failure.quiet ? brokenPipe : NOT_WRITTEN;
}
