import { note } from '../notes.js';
import {
  expectOutputErrors,
  type OutputClosedError,
  untilClosed,
  untilImpatient,
  type WriteBytes,
  writeStandardOutput,
} from '../standard-output.js';
import type { CommandSignals } from './command-signals.js';
import type { WaitingLine } from './waiting-line.js';

/**
 * The time for which a command may go on printing without a reader, in milliseconds. A command that has
 * only its last lines left exits by itself, with an exit code that does not depend on when the loss was
 * noticed.
 */
const GRACE_MS = 250;

/** The destination of the command's output, and its state. */
export interface CommandOutput {
  readonly write: WriteBytes;
  /** Tells that the command has printed, whether or not that is written. */
  printed(): void;
  /** Returns why the output could not all be written; `undefined`: it could, so far. */
  failure(): OutputClosedError | undefined;
}

/**
 * Opens the output. When its reader has gone, a command that goes on printing is ended, as if it wrote
 * to that pipe itself; a silent one is left to its work.
 */
export function openOutput(signals: CommandSignals, line: WaitingLine): CommandOutput {
  expectOutputErrors();
  let failure: OutputClosedError | undefined;
  let failedAt = Number.POSITIVE_INFINITY;
  const write = untilClosed(untilImpatient(writeStandardOutput, signals.signal), (error) => {
    failure = error;
    failedAt = performance.now();
    if (!error.quiet) note(error.message);
  });
  return {
    failure: () => failure,
    printed: () => {
      if (performance.now() - failedAt > GRACE_MS) signals.end('SIGPIPE');
    },
    write: (bytes) => {
      line.printing(bytes);
      return write(bytes);
    },
  };
}
