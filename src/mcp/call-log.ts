import { InputError, showValue } from '../support/errors.js';
import { LineFile } from '../support/line-file.js';
import { absolutePath } from '../support/paths.js';

/** Something that happened while a client was served. */
export type McpEvent =
  | { readonly event: 'connected'; readonly session: string; readonly client?: string }
  | {
      readonly event: 'call';
      /** The session that it came from. */
      readonly session: string;
      /** The client's id for the call. */
      readonly request: string | number;
      /** The tool that was called. */
      readonly tool: string;
      /** The command's text, its beginning if it is long. */
      readonly command?: string;
    }
  | {
      readonly event: 'result';
      /** The session that the call came from. */
      readonly session: string;
      /** The client's id for the call. */
      readonly request: string | number;
      /** The tool that was called. */
      readonly tool: string;
      /** What became of it. */
      readonly outcome: CallOutcome;
      /** From the call to its answer, in milliseconds. */
      readonly durationMs: number;
      /** UTF-8 bytes of the text for the model. */
      readonly bytes: number;
      /** Why it went wrong: a `ToolErrorKind`, or a message where it is none of those. */
      readonly error?: string;
    }
  | { readonly event: 'disconnected'; readonly session: string };

/**
 * How a call went. `failed`: the tool answered, with an error result; `error`: it could not, for
 * instance because its input was wrong or its time was up.
 */
export type CallOutcome = 'ok' | 'failed' | 'error' | 'cancelled';

/** Where a server tells what happens. It must not throw. */
export interface CallLog {
  /** Takes an event. */
  write(event: McpEvent): void;
}

/** A log that is a file. */
export interface CallLogFile extends CallLog {
  /** Settles when everything has been written that can be, after two seconds at the latest. */
  close(): Promise<void>;
}

/** Lines that wait for a slow disk, in bytes. */
const MAX_WAITING = 1024 * 1024;

/** How long the end of a server waits for a disk that does not answer. */
const CLOSE_MS = 2000;

/**
 * A log in a file: each event is appended as one line of JSON, with its time. The file is made
 * readable for its owner only. One that cannot be written fails no call: what is lost is
 * counted in the next line, for which the file is opened anew.
 *
 * @param warn Told once when it cannot be written.
 * @throws {InputError} The path is none, or `warn` no function.
 */
export function openCallLog(given: string, warn: (message: string) => void): CallLogFile {
  if (typeof given !== 'string' || given === '') {
    throw new InputError(`path: expected the path of a file, got ${showValue(given)}`);
  }
  if (typeof warn !== 'function') {
    throw new InputError(`warn: expected a function, got ${showValue(warn)}`);
  }
  const path = absolutePath('path', given);
  const file = new LineFile({
    path,
    maxPendingBytes: MAX_WAITING,
    warn: (why) => warn(`cannot write the log ${path}: ${why}`),
  });
  let closed = false;
  return {
    write(event) {
      if (closed) return;
      const line = { time: new Date().toISOString(), ...event };
      file.append((lost) => `${JSON.stringify(lost === 0 ? line : { ...line, lost })}\n`);
    },
    async close() {
      closed = true;
      await file.flush(CLOSE_MS);
    },
  };
}
