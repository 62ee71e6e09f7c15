import { startTimer } from '../support/timing.js';
import { note } from './notes.js';

/** Takes bytes, and settles when it has room for more. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/** How long a reader that takes nothing is waited for, once there is nothing else to wait for. */
const PATIENCE_MS = 2000;

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

/** Writes all that there is to write; whether it was, of which somebody is told if not. */
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
 * The same writer, but two seconds after `signal` is aborted a reader that has not taken its bytes
 * counts as gone: who ends this process should not have to end its reader first.
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
 * Ends this process soon even if somebody never reads what he was written, or a disk does not
 * answer: either would keep it alive.
 */
export function exitSoon(): void {
  startTimer(PATIENCE_MS, () => process.exit());
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
