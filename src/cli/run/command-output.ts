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

/** Where the command's output goes, and what became of it. */
export interface CommandOutput {
  readonly write: WriteBytes;
  /** Why it could not all be written; undefined: it could, so far. */
  failure(): OutputClosedError | undefined;
}

/** When nobody reads any more, the command ends as if it had written to that pipe itself. */
export function openOutput(signals: CommandSignals, line: WaitingLine): CommandOutput {
  expectOutputErrors();
  let failure: OutputClosedError | undefined;
  const write = untilClosed(untilImpatient(writeStandardOutput, signals.signal), (error) => {
    failure = error;
    if (!error.quiet) note(error.message);
    signals.end('SIGPIPE');
  });
  return {
    failure: () => failure,
    write: (bytes) => {
      line.printing(bytes);
      return write(bytes);
    },
  };
}
