import type { EngineFailure } from './message.js';
import { errorCode } from './system-error.js';

/** What was being done when a launch failed. */
export type LaunchStep =
  | 'engine'
  | 'keeper'
  | 'descriptors'
  | 'clone'
  | 'session'
  | 'parentDeath'
  | 'directory'
  | 'stdio'
  | 'close'
  | 'terminal'
  | 'exec'
  | 'sandbox'
  | 'limits'
  /** Hearing whether it was started: it may have been, and what was left of it was ended. */
  | 'lost';

/**
 * The command could not be started: nothing ran and nothing is left behind. A failure of the
 * system or of what was asked for, never of the command itself. Of the step `lost` alone, which only
 * commands that outlive their host have, the command may have run.
 */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  /** The system's name for the error: `ENOENT`, `EACCES`, `E2BIG`, `EAGAIN`, `EMFILE`, ... */
  readonly code: string;
  /** The system's number for it. */
  readonly errno: number;
  /** Which step failed, so that a missing directory and a missing shell are told apart. */
  readonly step: LaunchStep;
  /** What the step was about: a directory, the shells, an environment variable. May be empty. */
  readonly subject: string;

  /** Made by the engine. */
  constructor(failure: EngineFailure) {
    super(`${errorCode(failure.errno)}: ${failure.message}`);
    this.code = errorCode(failure.errno);
    this.errno = failure.errno;
    this.step = failure.step as LaunchStep;
    this.subject = failure.subject;
  }
}
