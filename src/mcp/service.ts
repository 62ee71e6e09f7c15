import type { Logger } from '../index.js';
import { messageOf } from '../support/errors.js';
import { warnTo } from '../support/logger.js';

/** Clients are being served. */
export interface McpService {
  /** Settles when it has ended, with everything that its clients started. */
  readonly closed: Promise<void>;
  /** Ends it: commands get SIGTERM, their grace period, SIGKILL. Settles like `closed`. */
  close(): Promise<void>;
}

/**
 * The way to tell of what went wrong without failing a call. Standard output is no place for it.
 *
 * @param logger Default: process warnings.
 */
export function reportTo(logger: Logger | undefined): (error: Error) => void {
  const warn = warnTo(logger);
  return (error) => warn(messageOf(error));
}
