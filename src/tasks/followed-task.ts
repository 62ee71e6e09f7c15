import { toBytes } from '../command/execute.js';
import type { BackgroundProcess } from '../engine/outcome.js';
import { checkData, checkGrace, checkSignal } from '../options/values.js';
import type { Receipt } from '../receipt/receipt.js';
import { type OptionNames, readOptions, wholeFrom } from '../support/checks.js';
import { InputError } from '../support/errors.js';
import { readOutput, type TaskOutput } from './output.js';
import { createTaskScreen, type TaskScreen } from './screen.js';
import type { TaskState } from './status.js';
import type { TaskSubject } from './subject.js';
import { type Awaited, checkUntil, type Until, waitUntil } from './wait.js';

/** From where on output is read. Sizes in bytes. */
export interface ReadOptions {
  /** A cursor that was given before: a position in bytes. Default: 0, the beginning. */
  readonly since?: number | undefined;
  /** Default: 65,536. */
  readonly maxBytes?: number | undefined;
}

/** How something is waited for. */
export interface WaitOptions {
  /** The cursor from which on a line counts. Default: 0, so that what was printed before counts. */
  readonly since?: number | undefined;
  /** Ends the wait; the task goes on. Default: nothing does. */
  readonly signal?: AbortSignal | undefined;
}

/** How a task is ended. */
export interface StopOptions {
  /** Time from SIGTERM to SIGKILL, in milliseconds. Default: that of its start. */
  readonly graceMs?: number | undefined;
}

const READ_NAMES: OptionNames<ReadOptions> = { since: true, maxBytes: true };
const WAIT_NAMES: OptionNames<WaitOptions> = { since: true, signal: true };
const STOP_NAMES: OptionNames<StopOptions> = { graceMs: true };
const READ_BYTES = 64 * 1024;

/** What can be done with any task, of this process or detached. */
export class FollowedTask {
  /** Its id among its manager's, or among the user's detached ones. */
  readonly id: string;
  /** What it follows. */
  protected readonly followed: TaskSubject;
  #screen: TaskScreen | undefined;

  constructor(id: string, subject: TaskSubject) {
    this.id = id;
    this.followed = subject;
  }

  /** How it stands. */
  get state(): TaskState {
    return this.followed.state.kind;
  }

  /** All that is known of how its command ended; undefined: it runs, or was never started. */
  get receipt(): Receipt | undefined {
    const { state } = this.followed;
    return state.kind === 'left' || state.kind === 'ended' ? state.receipt : undefined;
  }

  /** The file with all of its output, if there is one. */
  get outputFile(): string | undefined {
    return this.followed.outputFile;
  }

  /**
   * What it has printed since a cursor, in whole characters. What processes print that its command
   * has left is not kept.
   *
   * @throws {InputError} An option is not valid.
   */
  read(options: ReadOptions = {}): Promise<TaskOutput> {
    const { since = 0, maxBytes = READ_BYTES } = readOptions('options', options, READ_NAMES);
    wholeFrom('since', 0, since);
    return readOutput(this.followed, since, wholeFrom('maxBytes', 4, maxBytes));
  }

  /**
   * Waits for what happens first of what is named, or for its end. The task goes on.
   *
   * ```ts
   * const server = await tasks.start('npm run dev', { cwd });
   * const awaited = await server.wait({ port: true, atMostMs: 20_000 });
   * if (awaited.kind === 'listening') console.log(awaited.port);
   * ```
   *
   * @throws {InputError} An option is not valid.
   * @throws What the signal was aborted with.
   */
  async wait(until: Until = {}, options: WaitOptions = {}): Promise<Awaited> {
    const { since = 0, signal } = readOptions('options', options, WAIT_NAMES);
    wholeFrom('since', 0, since);
    return waitUntil(this.followed, checkUntil(until), since, signal);
  }

  /** Its processes now, leader and all that it has started; undefined: they could not be looked at. */
  members(): Promise<readonly BackgroundProcess[] | undefined> {
    return this.followed.members();
  }

  /**
   * Writes to its stdin, or types into its terminal: `\r` is Enter there, `\x03` Ctrl-C.
   *
   * @throws {InputError} It was not started with `stdin: 'pipe'` or `pty`.
   * @throws Error with `code: 'EPIPE'`: it has ended, or closed its stdin.
   */
  async write(data: string | Uint8Array): Promise<void> {
    checkData('data', data);
    await this.followed.write(toBytes(data));
  }

  /**
   * What is on its terminal, as text, without the blank lines at its end.
   *
   * @throws {InputError} It was not started with `pty`.
   */
  async screen(): Promise<string> {
    const { terminal } = this.followed;
    if (terminal === undefined) throw new InputError('screen: expected a task with a terminal');
    this.#screen ??= createTaskScreen(this.followed, terminal);
    return this.#screen.text();
  }

  /** Closes its stdin, once everything is written. */
  closeInput(): void {
    this.followed.closeInput();
  }

  /**
   * Signals its process group, as Ctrl-C does with 'SIGINT'; false: its command has ended.
   *
   * @throws {InputError} There is no such signal.
   */
  async signal(signal: NodeJS.Signals): Promise<boolean> {
    checkSignal(signal);
    return this.followed.signal(signal);
  }

  /**
   * Ends all of it, also what its command has left: SIGTERM, grace, SIGKILL. Resolves when nobody is
   * left, or it is known that somebody can't be ended: see `members()`.
   *
   * @throws {InputError} The grace is no time in milliseconds, or an option is unknown.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    const { graceMs } = readOptions('options', options, STOP_NAMES);
    checkGrace(graceMs);
    await this.followed.end(graceMs);
  }
}
