import { close, constants, createWriteStream, open, write, writev } from 'node:fs';
import { InputError, showValue } from '../support/errors.js';
import { startTimer } from '../support/timing.js';

/** Something that happened while a client was served. */
export type McpEvent =
  | { readonly event: 'connected'; readonly session: string; readonly client?: string }
  | {
      readonly event: 'call';
      readonly session: string;
      readonly request: string | number;
      readonly tool: string;
      /** The command's text, its beginning if it is long. */
      readonly command?: string;
    }
  | {
      readonly event: 'result';
      readonly session: string;
      readonly request: string | number;
      readonly tool: string;
      readonly outcome: CallOutcome;
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

// To open a pipe that nobody reads would otherwise take forever, and the server's end with it.
const { O_WRONLY, O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK } = constants;
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK;
const appending = {
  open: (path: string, _flags: unknown, mode: number, done: Opened) =>
    open(path, FLAGS, mode, done),
  write,
  writev,
  close,
};
type Opened = (error: NodeJS.ErrnoException | null, descriptor: number) => void;

/**
 * A log in a file: each event is appended as one line of JSON, with its time. The file is made
 * readable for its owner only. One that cannot be written fails no call.
 *
 * @param warn Told once when it cannot be written.
 * @throws {InputError} The path is none.
 */
export function openCallLog(path: string, warn: (message: string) => void): CallLogFile {
  if (typeof path !== 'string' || path === '') {
    throw new InputError(`path: expected the path of a file, got ${showValue(path)}`);
  }
  // Appended in single writes, so that several servers may share a file.
  const stream = createWriteStream(path, { mode: 0o600, fs: appending });
  let lost = 0;
  let broken = false;
  stream.on('error', (error) => {
    broken = true;
    warn(`cannot write the log ${path}: ${error.message}`);
  });
  return {
    write(event) {
      if (broken || stream.writableEnded) return;
      if (stream.writableLength > MAX_WAITING) {
        lost += 1;
        return;
      }
      const line = { time: new Date().toISOString(), ...event, ...(lost > 0 && { lost }) };
      lost = 0;
      stream.write(`${JSON.stringify(line)}\n`);
    },
    close: () =>
      new Promise((resolve) => {
        if (broken || stream.closed) return resolve();
        const stopTimer = startTimer(CLOSE_MS, resolve, 'keepsAlive');
        stream.once('close', () => {
          stopTimer();
          resolve();
        });
        stream.end();
      }),
  };
}
