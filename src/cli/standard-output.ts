import { startTimer } from '../support/timing.js';
import { note } from './notes.js';

/** Writes bytes. Settles when there is room for more. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/** The time for which a reader that takes nothing is waited for at the end, in milliseconds. */
const PATIENCE_MS = 2000;

/** Standard output was closed, or cannot be written. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
  /** Whether the reader has gone, as `head` does: no reason to complain. */
  readonly quiet: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super(`cannot write the output: ${cause.message}`, { cause });
    this.quiet = cause.code === 'EPIPE';
  }
}

/**
 * Writes bytes to standard output. Settles when the system has taken them, so that a slow reader slows
 * the command down and does not fill this process's memory.
 *
 * @throws {OutputClosedError} Standard output was closed, or cannot be written.
 */
export function writeStandardOutput(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (error) reject(new OutputClosedError(error));
      else resolve();
    });
  });
}

/** Writes a text. Returns whether it was written; a failure is noted. */
export async function writeOrTell(text: string): Promise<boolean> {
  try {
    await writeStandardOutput(Buffer.from(text));
    return true;
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error;
    if (!error.quiet) note(error.message);
    return false;
  }
}

/**
 * Returns the same writer, with a limit: two seconds after `signal` is aborted, a reader that has not
 * taken its bytes counts as gone. Ending this process should not take ending its reader first.
 */
export function untilImpatient(write: WriteBytes, signal: AbortSignal): WriteBytes {
  return (bytes) =>
    new Promise((resolve, reject) => {
      let stopTimer = (): void => {};
      const hurry = (): void => {
        const late = Object.assign(new Error('it was not read'), { code: 'EPIPE' });
        stopTimer = startTimer(
          PATIENCE_MS,
          () => reject(new OutputClosedError(late)),
          'keepsAlive',
        );
      };
      if (signal.aborted) hurry();
      else signal.addEventListener('abort', hurry, { once: true });
      const done = (): void => {
        stopTimer();
        signal.removeEventListener('abort', hurry);
      };
      write(bytes).then(resolve, reject).finally(done);
    });
}

/**
 * Ends this process soon even if its output is never read, or a disk does not answer: either would keep
 * the process alive.
 */
export function exitSoon(): void {
  startTimer(PATIENCE_MS, () => process.exit());
}

/**
 * Ignores errors of standard output: the callback of each write reports them, and without a listener
 * they would end the process.
 */
export function expectOutputErrors(): void {
  process.stdout.on('error', () => {});
}

/**
 * Returns the same writer, which reports once that the output is closed, and drops all later bytes: a
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
