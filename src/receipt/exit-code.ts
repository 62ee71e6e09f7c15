import { LaunchError } from '../engine/launch-error.js';
import type { Outcome } from '../engine/outcome.js';
import { signalExitCode } from '../support/signals.js';

/** The time limit was reached, as with timeout(1). */
const TIMED_OUT = 124;
/** The command ended, and it is not known how. */
const UNKNOWN = 125;
/** The command could not be started. */
const NOT_STARTED = 126;
/** The program, or the shell, does not exist. */
const NOT_FOUND = 127;

/**
 * Maps a command's end to the one number that shells and other programs report, 0 to 255: the exit code;
 * 128 plus a signal's number (143 when it was cancelled); 124 when the time limit was reached; 125 when
 * the end is unknown; and for an error that `run()` rejected with, 127 or 126 (125: a detached command
 * may have run). A command may also exit with each of these numbers by itself: where that matters, look
 * at the outcome.
 */
export function exitCodeOf(end: Outcome | LaunchError): number {
  if (end instanceof LaunchError) {
    if (end.step === 'lost') return UNKNOWN;
    return end.step === 'exec' && end.code === 'ENOENT' ? NOT_FOUND : NOT_STARTED;
  }
  switch (end.kind) {
    case 'exited':
      return end.exitCode;
    case 'signaled':
      return signalExitCode(end.signal);
    case 'timedOut':
      return TIMED_OUT;
    case 'cancelled':
      return signalExitCode('SIGTERM');
    case 'unknown':
      return UNKNOWN;
  }
}
