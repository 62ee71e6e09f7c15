import { types } from 'node:util';
import type { OutputChunk } from '../engine/outcome.js';
import { Owner } from '../engine/owner.js';
import { checkOnDenied, type OnDenied } from '../sandbox/denials/again.js';
import { readSandbox, type SandboxOption } from '../sandbox/policy.js';
import { isAbortSignal } from '../support/abort.js';
import { checkSwitch, isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { absolutePath, isUrl } from '../support/paths.js';
import { signalNumber } from '../support/signals.js';
import { checkCommand, checkWellFormed } from './command-line.js';
import { encodingOf } from './encoding/decoded-capture.js';
import { type CommandLimits, readLimits } from './limits/limits.js';
import { checkPriority, type Priority } from './priority.js';
import { checkPty, type PtyOption } from './terminal.js';

/** A file for the whole output, mode 0600. */
export interface SpillOptions {
  /**
   * Where: a path, or one relative to the directory of the host. No link is written through, nor is one
   * followed on the way that a command in a sandbox could have made.
   */
  readonly path: string;
  /** Its quota in bytes. Default: none. */
  readonly maxBytes?: number | undefined;
  /**
   * The file is made once a stream has printed more than so many bytes, or more than is kept of it
   * (`headBytes + tailBytes`); it has the output from the first byte on all the same. It must not
   * exist: that is a spill error, `EEXIST`. Default: it is made, or emptied, at the start.
   */
  readonly afterBytes?: number | undefined;
}

/** A command's options, but for its environment. Times in milliseconds, sizes in bytes. */
export interface ExecuteOptions {
  /** A path or a `file:` URL. Default: the host's working directory at the time of the call. */
  readonly cwd?: string | URL | undefined;
  /** Time that it may take, from its start. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Time from SIGTERM to SIGKILL. Default: 5000. */
  readonly graceMs?: number | undefined;
  /** Ends the command when it is aborted; the promise settles once it is gone. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Default: 'merged', one stream in true order. */
  readonly streams?: 'merged' | 'separate' | undefined;
  /** Bytes kept from the start of each stream. Default: 131072. */
  readonly headBytes?: number | undefined;
  /** Bytes kept from the end of each stream. Default: 131072. */
  readonly tailBytes?: number | undefined;
  /** A file for every byte of output. Default: none. */
  readonly spill?: string | SpillOptions | undefined;
  /**
   * What the command prints, as `TextDecoder` calls it (`gbk`, `shift_jis`, `utf-16le`). All sizes
   * but those of files are those of its text as UTF-8 then. Default: 'utf-8'.
   */
  readonly encoding?: string | undefined;
  /** What the command reads. Default: nothing (`/dev/null`). */
  readonly input?: string | Uint8Array | undefined;
  /**
   * Runs it on a terminal of its own, 120 columns by 40 rows unless a size (20 to 400 by 5 to 200)
   * is given. Its output is one stream then, with the terminal's `\r\n` for each newline, and what
   * it reads is typed: see `write()` of `spawn()`; with `run()` nobody types anything. Default: no.
   */
  readonly pty?: PtyOption | undefined;
  /**
   * Called with new text, at most every 50 ms or for each 64 KiB, in the async context of the
   * call. A listener that is too slow loses the middle, and is told how much. If it throws, or
   * returns a promise that is rejected before the end, the command is ended and the call rejects
   * with that. Default: nobody is called.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Who ends what is left. Default: the host process. */
  readonly owner?: Owner | undefined;
  /** Paths of shells, tried in order. Default: /bin/bash, bash on the command's PATH, /bin/sh. */
  readonly shell?: readonly string[] | undefined;
  /**
   * Tell in `result.directory` where the shell was at its end, however it ended. A set-user-id
   * program that takes the shell's own place (`exec sudo …`) has no privileges then. Default: false.
   */
  readonly followDirectory?: boolean | undefined;
  /**
   * `low`: where both want the processors, the host gets about ten times as much as the command and
   * what it starts. `result.notLowered` says when that could not be had. Default: 'normal'.
   */
  readonly priority?: Priority | undefined;
  /** What it may write to, read and reach. Default: 'danger-full-access', all that its host may. */
  readonly sandbox?: SandboxOption | undefined;
  /**
   * Asked when its sandbox has denied it something and it has ended by itself: it is run again, once, in
   * the sandbox that is returned. What the first run did stays done, and `result.firstRun` tells of it;
   * `onOutput` gets the output of both. Default: it is run once.
   */
  readonly onDenied?: OnDenied | undefined;
  /** What it may take, with all that it starts. Default: what its host may. */
  readonly limits?: CommandLimits | undefined;
}

/** The names of those options. */
export const EXECUTE_OPTION_NAMES: OptionNames<ExecuteOptions> = {
  cwd: true,
  timeoutMs: true,
  graceMs: true,
  signal: true,
  streams: true,
  headBytes: true,
  tailBytes: true,
  spill: true,
  encoding: true,
  input: true,
  pty: true,
  onOutput: true,
  owner: true,
  shell: true,
  followDirectory: true,
  priority: true,
  sandbox: true,
  onDenied: true,
  limits: true,
};

const SPILL_NAMES: OptionNames<SpillOptions> = { path: true, maxBytes: true, afterBytes: true };

/** How much is kept of an output, or shown, in bytes. */
export interface OutputLimits {
  /** Bytes from the beginning; 0: the end only. */
  readonly headBytes: number;
  /** Bytes from the end. */
  readonly tailBytes: number;
}

/**
 * Checks what a caller of the programming interface has passed, before anything is started.
 *
 * @throws {InputError} Names the option, what is expected and what was given.
 */
export function checkExecuteOptions(command: string, options: ExecuteOptions): void {
  if (typeof command !== 'string') fail('command', 'a string', command);
  checkCommand(command);
  checkOptions(options);
}

/**
 * Checks all but the command.
 *
 * @throws {InputError} As {@link checkExecuteOptions}.
 */
export function checkOptions(options: ExecuteOptions): void {
  checkDirectory(options.cwd);
  checkTime('timeoutMs', options.timeoutMs);
  checkTime('graceMs', options.graceMs, 0);
  checkSize('headBytes', options.headBytes);
  checkSize('tailBytes', options.tailBytes);
  checkSpill(options.spill);
  if (options.encoding !== undefined) encodingOf(options.encoding);
  if (options.input !== undefined) checkData('input', options.input);
  checkShell(options.shell);
  checkOneOf('streams', ['merged', 'separate'], options.streams);
  checkSwitch('followDirectory', options.followDirectory);
  checkPriority(options.priority);
  readSandbox(options.sandbox);
  checkOnDenied(options.onDenied);
  readLimits(options.limits);
  if (options.pty !== undefined) checkPty({ ...options });
  if (options.onOutput !== undefined && typeof options.onOutput !== 'function') {
    fail('onOutput', 'a function', options.onOutput);
  }
  if (options.signal !== undefined && !isAbortSignal(options.signal)) {
    fail('signal', 'an AbortSignal', options.signal);
  }
  if (options.owner !== undefined && !(options.owner instanceof Owner)) {
    fail('owner', 'an owner made by createOwner()', options.owner);
  }
}

/**
 * Checks what only a command has that is talked to while it runs.
 *
 * @throws {InputError} As {@link checkExecuteOptions}.
 */
export function checkLiveOptions(
  options: Readonly<Partial<Record<'stdin' | 'overflow' | 'input' | 'pty', unknown>>>,
): void {
  checkOneOf('stdin', ['null', 'pipe'], options.stdin);
  checkOneOf('overflow', ['drop', 'pause'], options.overflow);
  if (options.stdin === 'pipe' && options.input !== undefined) {
    fail('input', "nothing beside stdin: 'pipe'", options.input);
  }
  if (options.pty && options.stdin === 'null') {
    fail('stdin', 'nothing beside pty, whose input is the terminal', options.stdin);
  }
}

function checkOneOf(name: string, allowed: readonly string[], value: unknown): void {
  if (value === undefined || allowed.includes(value as string)) return;
  fail(name, allowed.map((one) => `'${one}'`).join(' or '), value);
}

/** The most that is kept of a stream: what a string can hold. */
export const MOST_KEPT_BYTES = 256 * 1024 * 1024;

function checkSize(name: string, value: unknown): void {
  if (value === undefined) return;
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > MOST_KEPT_BYTES) {
    fail(name, `a whole number of bytes from 0 to ${MOST_KEPT_BYTES}`, value);
  }
}

function checkTime(name: string, value: unknown, least = Number.MIN_VALUE): void {
  if (value === undefined) return;
  if (typeof value !== 'number' || !(value >= least)) {
    fail(name, `a number of milliseconds ${least === 0 ? 'of 0 or more' : 'above 0'}`, value);
  }
}

function checkDirectory(value: unknown): void {
  if (typeof value === 'object' && isUrl(value)) absolutePath('cwd', value);
  else if (value !== undefined) checkPath('cwd', value);
}

function checkPath(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) {
    fail(name, 'a path: a string that is not empty and has no NUL', value);
  }
  checkWellFormed(name, value);
}

function checkSpill(spill: ExecuteOptions['spill']): void {
  if (spill === undefined) return;
  if (typeof spill !== 'object' || spill === null) {
    checkPath('spill', spill);
    return;
  }
  readOptions('spill', spill, SPILL_NAMES, { within: 'spill.' });
  checkPath('spill.path', spill.path);
  for (const name of ['maxBytes', 'afterBytes'] as const) {
    const value = spill[name];
    if (!isMissing(value) && !(Number.isSafeInteger(value) && value >= 0)) {
      fail(`spill.${name}`, 'a whole number of bytes of 0 or more', value);
    }
  }
}

/**
 * @throws {InputError} It is nothing that can be written.
 */
export function checkData(name: string, data: unknown): void {
  if (typeof data === 'string') {
    checkWellFormed(name, data);
    return;
  }
  if (types.isUint8Array(data)) return;
  fail(name, 'a string or a Uint8Array', data);
}

/**
 * @throws {InputError} `shell` is not what the option of that name is.
 */
export function checkShell(shell: unknown): void {
  if (shell === undefined) return;
  if (!Array.isArray(shell) || shell.length === 0) {
    fail('shell', 'an array of at least one absolute path', shell);
  }
  for (const path of shell) {
    checkPath('shell', path);
    if (!path.startsWith('/')) fail('shell', 'absolute paths', path);
  }
}

/**
 * @throws {InputError} `graceMs` is no time.
 */
export function checkGrace(graceMs: unknown): void {
  checkTime('graceMs', graceMs, 0);
}

/**
 * @throws {InputError} `signal` is not the name of a signal.
 */
export function checkSignal(signal: unknown): asserts signal is NodeJS.Signals {
  const number = typeof signal === 'string' ? signalNumber(signal) : undefined;
  // Real-time signals end commands, but the engine sends none.
  if (number !== undefined && number < 32) return;
  fail('signal', 'the name of a signal, such as SIGINT', signal);
}

function fail(name: string, expected: string, value: unknown): never {
  throw new InputError(`${name}: expected ${expected}, got ${showValue(value)}`);
}
