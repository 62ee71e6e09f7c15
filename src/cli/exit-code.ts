import type { LaunchError, Outcome } from '../index.js';
import { signalExitCode } from '../support/signals.js';
import type { OutputClosedError } from './standard-output.js';

/** The arguments were wrong. */
export const USAGE_ERROR = 2;

/** The command's time was up, as with timeout(1). */
const TIMED_OUT = 124;

/** It ended, and nobody can say how. */
export const UNKNOWN_STATUS = 125;

/**
 * The exit code for how the command ended.
 *
 * @param endedBy The signal because of which we cancelled it, if we did.
 */
export function outcomeCode(outcome: Outcome, endedBy: NodeJS.Signals | undefined): number {
  switch (outcome.kind) {
    case 'exited':
      return outcome.exitCode;
    case 'signaled':
      return signalExitCode(outcome.signal);
    case 'unknown':
      return UNKNOWN_STATUS;
    case 'timedOut':
      return TIMED_OUT;
    case 'cancelled':
      return signalExitCode(endedBy ?? 'SIGTERM');
  }
}

/** Something else than the command kept it from starting, as shells tell it. */
export const NOT_STARTED = 126;

/** 127 when there is no shell, 126 when something else kept it from starting; as shells do. */
export function launchCode(error: LaunchError): number {
  return error.step === 'exec' && error.code === 'ENOENT' ? 127 : NOT_STARTED;
}

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
