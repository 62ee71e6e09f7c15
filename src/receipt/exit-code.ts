import { LaunchError } from '../engine/launch-error.js';
import type { Outcome } from '../engine/outcome.js';
import { signalExitCode } from '../support/signals.js';

/** Its time was up, as with timeout(1). */
const TIMED_OUT = 124;
/** It ended, and nobody can say how. */
const UNKNOWN = 125;
/** Something kept it from starting. */
const NOT_STARTED = 126;
/** There is no such program, or no shell. */
const NOT_FOUND = 127;

/**
 * An end as the one number that shells and other programs tell it by, 0 to 255: the exit code; 128
 * and a signal's number (143 when it was cancelled); 124, its time was up; 125, nobody knows; and of
 * what `run()` rejected with, 127 or 126 (125: a detached one may have run). A command may end with
 * each of them by itself: where that matters, look at the outcome.
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
