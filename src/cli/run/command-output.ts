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
 * How long a command may go on printing what nobody reads: one that has only its last lines left
 * exits by itself, with an exit code that does not depend on when we found out.
 */
const GRACE_MS = 250;

/** Where the command's output goes, and what became of it. */
export interface CommandOutput {
  readonly write: WriteBytes;
  /** The command has printed something, whether or not it is to be written. */
  printed(): void;
  /** Why it could not all be written; undefined: it could, so far. */
  failure(): OutputClosedError | undefined;
}

/**
 * When nobody reads any more, the command is ended once it goes on printing, as it would be if it
 * wrote to that pipe itself. A silent one is left to its work.
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
