import type { WriteBytes } from './bounded-output.js';

/** Standard output was closed, or cannot be written. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
  /** Its reader went away, as `head` does: nothing to complain about. */
  readonly quiet: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super(`cannot write the output: ${cause.message}`, { cause });
    this.quiet = cause.code === 'EPIPE';
  }
}

/**
 * Writes bytes to standard output, and settles when the system has taken them, so that a slow
 * reader slows the command down and not our memory.
 *
 * @throws {OutputClosedError}
 */
export function writeStandardOutput(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (error) reject(new OutputClosedError(error));
      else resolve();
    });
  });
}

/** The callback of the write tells of errors; without a listener they would end the process. */
export function expectOutputErrors(): void {
  process.stdout.on('error', () => {});
}

/**
 * The same writer, but once the output is closed it says so, once, and swallows what follows: a
 * command that is being ended is still read, because it may have to write in order to end.
 */
export function untilClosed(
  write: WriteBytes,
  onClosed: (error: OutputClosedError) => void,
): WriteBytes {
  let closed = false;
  return async (bytes) => {
    if (closed) return;
    try {
      await write(bytes);
    } catch (error) {
      if (!(error instanceof OutputClosedError)) throw error;
      closed = true;
      onClosed(error);
    }
  };
}
