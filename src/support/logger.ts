import { isMissing } from './checks.js';
import { callOut, describeThrown } from './errors.js';

/** A place where a runtime reads about problems that did not fail a call. */
export interface Logger {
  /** Reports one problem, in one line. */
  warn(message: string): void;
}

/** Emits a process warning, where no logger was given. */
export function warnHost(message: string, code?: string): void {
  if (code === undefined) process.emitWarning(message);
  else process.emitWarning(message, { type: 'ForklineWarning', code });
}

/**
 * Returns the function that reports warnings.
 *
 * @param logger Default: process warnings.
 */
export function warnTo(logger: Logger | undefined): (message: string) => void {
  if (isMissing(logger)) return warnHost;
  return (message) =>
    callOut(
      () => logger.warn(message),
      (error) => {
        // A logger that fails must not fail the call it reports on.
        warnHost(`logger threw: ${describeThrown(error)}; its message was: ${message}`);
      },
    );
}
