import { callOut } from './listener.js';

/** Where a runtime wants to read of what went wrong without failing a call. */
export interface Logger {
  warn(message: string): void;
}

/**
 * The way to warn.
 *
 * @param logger Default: process warnings.
 */
export function warnTo(logger: Logger | undefined): (message: string) => void {
  if (logger === undefined) return (message) => process.emitWarning(message);
  return (message) =>
    callOut(
      () => logger.warn(message),
      (error) => {
        // A log that fails must not fail what it reports on.
        process.emitWarning(`logger threw: ${String(error)}; it was told: ${message}`);
      },
    );
}
