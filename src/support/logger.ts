import { isMissing } from './checks.js';
import { callOut, describeThrown } from './errors.js';

/** Where a runtime wants to read of what went wrong without failing a call. */
export interface Logger {
  /** Takes one line about what went wrong. */
  warn(message: string): void;
}

/** Tells whoever runs the host, when nobody else is there to be told. */
export function warnHost(message: string, code?: string): void {
  if (code === undefined) process.emitWarning(message);
  else process.emitWarning(message, { type: 'ForklineWarning', code });
}

/**
 * The way to warn.
 *
 * @param logger Default: process warnings.
 */
export function warnTo(logger: Logger | undefined): (message: string) => void {
  if (isMissing(logger)) return warnHost;
  return (message) =>
    callOut(
      () => logger.warn(message),
      (error) => {
        // A log that fails must not fail what it reports on.
        warnHost(`logger threw: ${describeThrown(error)}; it was told: ${message}`);
      },
    );
}
