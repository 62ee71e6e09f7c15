import { InputError } from '../index.js';
import { signalExitCode } from '../support/signals.js';
import { USAGE_ERROR } from './exit-code.js';
import { note } from './notes.js';
import { Termination } from './termination.js';

/** A running server. */
export interface Served {
  /** Settles when the server has ended, with all that its clients have started. */
  readonly closed: Promise<void>;
  /** Ends the server, on a signal. */
  readonly end: () => Promise<void>;
}

/** The exit code when the arguments were right, but the server could not serve. */
const FAILED = 1;

/**
 * Serves until the server has ended, by itself or because this process is told to end.
 *
 * @param start Starts the server, unless the signal is aborted meanwhile; its errors are printed, and end
 *   this process.
 * @param onUnheard Called once if standard output can't be written to, though its reader has not gone.
 * @returns The exit code.
 */
export async function serveToTheEnd(
  start: (signal: AbortSignal) => Promise<Served>,
  onUnheard: (reason: string) => void = () => {},
): Promise<number> {
  // A client may still want answers after it has closed standard error.
  process.stderr.on('error', () => {});
  let isUnheard = false;
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A client that has gone is the expected end.
    if (isUnheard || code === 'EPIPE') return;
    isUnheard = true;
    onUnheard(message);
  });
  const termination = new Termination();
  try {
    const { closed, end } = await start(termination.signal);
    const close = (): void => void end();
    if (termination.signal.aborted) close();
    else termination.signal.addEventListener('abort', close);
    await closed;
    if (termination.endedBy !== undefined) return signalExitCode(termination.endedBy);
    return isUnheard ? FAILED : 0;
  } catch (error) {
    if (termination.endedBy !== undefined) return signalExitCode(termination.endedBy);
    if (!(error instanceof Error)) throw error;
    note(error.message);
    return error instanceof InputError ? USAGE_ERROR : FAILED;
  } finally {
    termination.release();
  }
}
