import type { Logger } from '../index.js';
import { messageOf } from '../support/errors.js';
import { warnTo } from '../support/logger.js';

/** A running MCP service. */
export interface McpService {
  /** Settles when the service has ended, with everything that its clients have started. */
  readonly closed: Promise<void>;
  /** Ends the service: commands get SIGTERM, their grace period, SIGKILL. Settles like `closed`. */
  close(): Promise<void>;
}

/**
 * Returns a function that reports errors without failing a call; standard output belongs to the
 * protocol.
 *
 * @param logger Default: process warnings.
 */
export function reportTo(logger: Logger | undefined): (error: Error) => void {
  const warn = warnTo(logger);
  return (error) => warn(messageOf(error));
}
