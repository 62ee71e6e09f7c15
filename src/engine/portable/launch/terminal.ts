import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { InputError } from '../../../support/errors.js';
import { ownRequire } from '../../../support/package/own-require.js';
import type { EngineCommand, EngineFailure } from '../../message.js';
import { ERRNO } from '../../system-error.js';
import { errnoOf, terminalFailure } from '../failure.js';
import type { Leader } from './leader.js';
import { comeBehind } from './priority.js';
import type { ShellInvocation } from './shells.js';

/** The used part of node-pty, an optional package by others. */
interface PtyLibrary {
  spawn(file: string, args: readonly string[], options: object): PtyProcess;
}

interface PtyProcess {
  readonly pid: number;
  /** The path of the command's end of the terminal. */
  readonly _pty?: string;
  onData(listener: (data: Buffer | string) => void): unknown;
  onExit(listener: (end: { exitCode: number; signal?: number | undefined }) => void): unknown;
  write(data: Buffer): void;
  resize(columns: number, rows: number): void;
  pause(): void;
  resume(): void;
}

const NAMES = ['node-pty', '@lydell/node-pty'];

let library: PtyLibrary | undefined;

/**
 * Loads the library for terminals.
 *
 * @throws {InputError} The library is not installed.
 */
export function loadTerminals(): PtyLibrary {
  library ??= findLibrary();
  return library;
}

function findLibrary(): PtyLibrary {
  const require = ownRequire();
  for (const name of NAMES) {
    try {
      return require(name) as PtyLibrary;
    } catch (error) {
      // A library that exists and does not load must be reported, and not count as missing.
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  const expected = 'false, or the package node-pty to be installed (`npm install node-pty`)';
  throw new InputError(`pty: expected ${expected}, which the portable engine needs, got true`);
}

/** The longest argument that Linux takes. */
const LONGEST_TEXT_BYTES = 128 * 1024 - 1;

/** Starts a shell on a terminal of its own; node-pty does not report why one cannot be started. */
export function launchOnTerminal(
  call: ShellInvocation,
  { columns, rows }: NonNullable<EngineCommand['terminal']>,
  lowPriority: boolean,
  cwd: string,
  env: Record<string, string>,
): Leader | EngineFailure | { readonly errno: number } {
  const { path, args } = call;
  try {
    accessSync(cwd, constants.X_OK);
    accessSync(path, constants.X_OK);
  } catch (error) {
    return { errno: errnoOf(error) };
  }
  if (args.some((argument) => Buffer.byteLength(argument) > LONGEST_TEXT_BYTES)) {
    return { errno: ERRNO.E2BIG };
  }
  let pty: PtyProcess;
  try {
    const named = { cols: columns, rows, cwd, env, name: env.TERM, encoding: null };
    pty = loadTerminals().spawn(path, args, named);
  } catch (error) {
    return terminalFailure(error);
  }
  return ptyLeader(pty, call, lowPriority ? comeBehind(pty.pid) : 0);
}

/** The most bytes that may wait to be read: node-pty loses its own buffer when the process ends. */
const MOST_WAITING_BYTES = 1024 * 1024;

function ptyLeader(pty: PtyProcess, call: ShellInvocation, share: number): Leader {
  const output = new Readable({ highWaterMark: MOST_WAITING_BYTES, read: () => pty.resume() });
  const stdin = new Writable({
    write(bytes: Buffer, _, done) {
      pty.write(bytes);
      done();
    },
  });
  pty.onData((data) => {
    if (!output.push(data)) pty.pause();
  });
  const release = keepOpen(pty._pty);
  let hasEnded = false;
  return {
    pid: pty.pid,
    call,
    outputs: [[output]],
    stdin,
    share,
    whenEnded(then) {
      pty.onExit(({ exitCode, signal }) => {
        hasEnded = true;
        release();
        output.push(null);
        then(signal ? -signal : exitCode);
      });
    },
    directory: async () => undefined,
    resize(columns, rows) {
      if (!hasEnded) pty.resize(columns, rows);
    },
  };
}

/**
 * Holds the command's end of a terminal open. Once it is closed everywhere, node-pty may lose unread
 * output; held open, node-pty reads on for a moment (0.2 s), and only then reports the end.
 */
function keepOpen(path: string | undefined): () => void {
  if (path === undefined) return () => {};
  try {
    const held = openSync(path, constants.O_RDWR | constants.O_NOCTTY);
    return () => closeSync(held);
  } catch {
    // The command has ended already.
    return () => {};
  }
}
