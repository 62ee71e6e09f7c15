import { InputError, showValue } from '../support/errors.js';
import { LineFile } from '../support/line-file.js';
import { absolutePath } from '../support/paths.js';

/** An event while a client is served. */
export type McpEvent =
  | { readonly event: 'connected'; readonly session: string; readonly client?: string }
  | {
      readonly event: 'call';
      /** The session that the event came from. */
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
      /** The outcome of the call. */
      readonly outcome: CallOutcome;
      /** The time from the call to its answer, in milliseconds. */
      readonly durationMs: number;
      /** UTF-8 bytes of the text for the model. */
      readonly bytes: number;
      /** The reason of a failure: a `ToolErrorKind`, or a message. */
      readonly error?: string;
    }
  | { readonly event: 'disconnected'; readonly session: string };

/**
 * The outcome of a call. `failed`: the tool answered with an error result; `error`: the tool could not
 * answer, for instance because its input was wrong or its time was up.
 */
export type CallOutcome = 'ok' | 'failed' | 'error' | 'cancelled';

/** A log of a server's events. `write()` must not throw. */
export interface CallLog {
  /** Takes an event. */
  write(event: McpEvent): void;
}

/** A log that is a file. */
export interface CallLogFile extends CallLog {
  /** Settles when everything that can be written has been, after two seconds at the latest. */
  close(): Promise<void>;
}

/** Bytes of lines that wait for a slow disk. */
const MAX_WAITING = 1024 * 1024;

/**
 * The time for which the end of a server waits for a disk that does not answer, in milliseconds.
 */
const CLOSE_MS = 2000;

/**
 * Opens a log in a file: each event is appended as one line of JSON, with its time. The file is made
 * readable for its owner only. A failed write fails no call: lost lines are counted in the next one,
 * for which the file is opened again.
 *
 * @param warn Called once when the file cannot be written.
 * @throws {InputError} The path is not valid, or `warn` is no function.
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
