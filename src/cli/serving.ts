import { InputError } from '../index.js';
import { signalExitCode } from '../support/signals.js';
import { USAGE_ERROR } from './exit-code.js';
import { note } from './notes.js';
import { Termination } from './termination.js';

/** A server that has been started. */
export interface Served {
  /** Settles when it has ended, with all that its clients started. */
  readonly closed: Promise<void>;
  /** What a signal to end does. */
  readonly end: () => Promise<void>;
}

/** It could not serve; the arguments were right. */
const FAILED = 1;

/**
 * Serves until that has ended, by itself or because this process is told to end.
 *
 * @param start What goes wrong with it is told, and is the end.
 * @param onUnheard Told once if standard output can't be written to, though its reader has not gone.
 * @returns The exit code.
 */
export async function serveToTheEnd(
  start: () => Promise<Served>,
  onUnheard: (reason: string) => void = () => {},
): Promise<number> {
  // Who stops reading what we say here may still want answers there.
  process.stderr.on('error', () => {});
  let isUnheard = false;
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A client that has gone is what is waited for.
    if (isUnheard || code === 'EPIPE') return;
    isUnheard = true;
    onUnheard(message);
  });
  const termination = new Termination();
  try {
    const { closed, end } = await start();
    const close = (): void => void end();
    if (termination.signal.aborted) close();
    else termination.signal.addEventListener('abort', close);
    await closed;
    if (termination.endedBy !== undefined) return signalExitCode(termination.endedBy);
    return isUnheard ? FAILED : 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    note(error.message);
    return error instanceof InputError ? USAGE_ERROR : FAILED;
  } finally {
    termination.release();
  }
}
