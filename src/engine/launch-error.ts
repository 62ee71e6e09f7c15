import { brand } from '../support/errors.js';
import type { EngineFailure } from './message.js';
import { errorCode } from './system-error.js';

/** The step at which a launch failed. */
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
  /** The answer whether it was started was lost: it may have been, and its processes were ended. */
  | 'lost';

/**
 * The command could not be started: nothing ran and nothing is left behind. A failure of the system or of
 * the request, never of the command itself. Only with step `lost`, which is limited to detached commands,
 * the command may have run.
 */
export class LaunchError extends Error {
  static {
    brand(LaunchError, 'LaunchError');
  }
  override readonly name = 'LaunchError';
  /** The system's name for the error: `ENOENT`, `EACCES`, `E2BIG`, `EAGAIN`, `EMFILE`, ... */
  readonly code: string;
  /** The system's number for it. */
  readonly errno: number;
  /** The step that failed: it tells a missing directory from a missing shell. */
  readonly step: LaunchStep;
  /** The object of the step: a directory, the shells, an environment variable. May be empty. */
  readonly subject: string;

  /** Created by the engine. */
  constructor(failure: EngineFailure) {
    super(`${errorCode(failure.errno)}: ${failure.message}`);
    this.code = errorCode(failure.errno);
    this.errno = failure.errno;
    this.step = failure.step as LaunchStep;
    this.subject = failure.subject;
  }
}
