import { toBytes } from '../command/execute.js';
import type { BackgroundProcess } from '../engine/outcome.js';
import { checkExtent, type TerminalSize } from '../options/terminal.js';
import { checkData, checkGrace, checkSignal } from '../options/values.js';
import type { Receipt } from '../receipt/receipt.js';
import { type OptionNames, readOptions, wholeFrom } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { pressKeys } from './keys/press.js';
import { type InputWait, inputWaitOf } from './lookout/stdin-wait.js';
import { readOutput, type TaskOutput } from './output.js';
import { createTaskScreen, type TaskScreen } from './screen.js';
import type { TaskState } from './status.js';
import type { TaskSubject } from './subject.js';
import { type Awaited, checkUntil, type Until, waitUntil } from './wait.js';

/** Options for reading output. Sizes in bytes. */
export interface ReadOptions {
  /** A cursor from an earlier read: a position in bytes. Default: 0, the beginning. */
  readonly since?: number | undefined;
  /** The most bytes to read. Default: 65,536. */
  readonly maxBytes?: number | undefined;
}

/** Options for a wait. */
export interface WaitOptions {
  /** The cursor from which on a line counts. Default: 0, so that earlier output counts. */
  readonly since?: number | undefined;
  /** Aborting it ends the wait; the task goes on. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for ending a task. */
export interface StopOptions {
  /** Time from SIGTERM to SIGKILL, in milliseconds. Default: that of its start. */
  readonly graceMs?: number | undefined;
}

const READ_NAMES: OptionNames<ReadOptions> = { since: true, maxBytes: true };
const WAIT_NAMES: OptionNames<WaitOptions> = { since: true, signal: true };
const STOP_NAMES: OptionNames<StopOptions> = { graceMs: true };
const READ_BYTES = 64 * 1024;

/** The methods of any task, of this process or detached. */
export class FollowedTask {
  /** The task's id in its manager, or among the user's detached tasks. */
  readonly id: string;
  /** The command that the task follows. */
  protected readonly followed: TaskSubject;
  #screen: TaskScreen | undefined;

  constructor(id: string, subject: TaskSubject) {
    this.id = id;
    this.followed = subject;
  }

  /** The task's current state. */
  get state(): TaskState {
    return this.followed.state.kind;
  }

  /** The receipt of its command; undefined while it runs, or when it was never started. */
  get receipt(): Receipt | undefined {
    const { state } = this.followed;
    return state.kind === 'left' || state.kind === 'ended' ? state.receipt : undefined;
  }

  /** The file with all of its output, if there is one. */
  get outputFile(): string | undefined {
    return this.followed.outputFile;
  }

  /**
   * Whether it has a stdin, or a terminal, that can be written to; undefined: a task of a far side, where
   * `write()` finds out.
   */
  get takesInput(): boolean | undefined {
    return this.followed.takesInput;
  }

  /** The size of its terminal; undefined: it has none. */
  get terminal(): TerminalSize | undefined {
    return this.followed.terminal;
  }

  /**
   * Reads its output since a cursor, in whole characters. Output of processes that the command has left
   * running is not kept.
   *
   * @throws {InputError} An option is not valid.
   */
  read(options: ReadOptions = {}): Promise<TaskOutput> {
    const { since = 0, maxBytes = READ_BYTES } = readOptions('options', options, READ_NAMES);
    wholeFrom('since', 0, since);
    return readOutput(this.followed, since, wholeFrom('maxBytes', 4, maxBytes));
  }

  /**
   * Waits for the first of the named events, or for the command's end. The task goes on.
   *
   * ```ts
   * const server = await tasks.start('npm run dev', { cwd });
   * const awaited = await server.wait({ port: true, atMostMs: 20_000 });
   * if (awaited.kind === 'listening') console.log(awaited.port);
   * ```
   *
   * @throws {InputError} An option is not valid.
   * @throws The reason of the aborted signal.
   */
  async wait(until: Until = {}, options: WaitOptions = {}): Promise<Awaited> {
    const { since = 0, signal } = readOptions('options', options, WAIT_NAMES);
    wholeFrom('since', 0, since);
    return waitUntil(this.followed, checkUntil(until), since, signal);
  }

  /**
   * Lists its current processes, the leader and its descendants; undefined when they could not be
   * examined.
   */
  members(): Promise<readonly BackgroundProcess[] | undefined> {
    return this.followed.members();
  }

  /**
   * Writes to its stdin, or types into its terminal: there `\r` is Enter, `\x03` Ctrl-C.
   *
   * @throws {InputError} The task was not started with `stdin: 'pipe'` or `pty`.
   * @throws Error with `code: 'EPIPE'`: the command has ended, or closed its stdin.
   */
  async write(data: string | Uint8Array): Promise<void> {
    checkData('data', data);
    await this.followed.write(toBytes(data));
  }

  /**
   * Returns the screen of its terminal as text, without the blank lines at its end.
   *
   * @throws {InputError} The task was not started with `pty`.
   */
  async screen(): Promise<string> {
    return this.screenFor('screen').text();
  }

  /**
   * Presses keys of its terminal by their names, one after the other: `enter`, `escape`, `up`, `page-down`,
   * `f1`, `ctrl-d`, `alt-x`, or one character. Without a terminal, `ctrl-d` closes its stdin, `ctrl-c` and
   * `ctrl-\\` signal its process group, and `enter` ends a line.
   *
   * @throws {InputError} There is no such key, or the task has no terminal for it; nothing was pressed.
   * @throws Error with `code: 'EPIPE'`: the command has ended, or closed its stdin.
   */
  async press(keys: readonly string[]): Promise<void> {
    if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string')) {
      throw new InputError(`keys: expected an array of names of keys, got ${showValue(keys)}`);
    }
    const screen = this.terminal === undefined ? undefined : this.screenFor('press');
    await pressKeys(this.followed, screen, keys, 'keys');
  }

  /**
   * Changes the size of its terminal; its programs are told.
   *
   * @throws {InputError} The task was not started with `pty`, or the size is out of range.
   */
  async resize(columns: number, rows: number): Promise<void> {
    const size = { columns: checkExtent('columns', columns), rows: checkExtent('rows', rows) };
    const { followed } = this;
    const screen = this.screenFor('resize');
    if (followed.resize === undefined) {
      throw new InputError('resize: expected a task of this host, got one of a far side');
    }
    // What was printed so far is for the old size.
    await screen.resize(size);
    followed.resize(size);
  }

  /**
   * Returns the input that it waits for: keys of its terminal, data on its stdin, or a password, which its
   * terminal does not show. Undefined: none, or the kernel does not show it.
   */
  async waitsFor(): Promise<InputWait | undefined> {
    if (this.followed.state.kind !== 'running') return undefined;
    return inputWaitOf(this.followed);
  }

  /**
   * Answers from now on what programs ask their terminal, such as where its cursor is, unless something else
   * does, such as a terminal that shows its output.
   *
   * @param onScreen Called with the screen as text when new output has been drawn; must not throw.
   * @throws {InputError} The task was not started with `pty`.
   */
  answerTerminal(onScreen?: (text: string) => void): void {
    this.screenFor('answerTerminal').answer(onScreen);
  }

  /** Frees the memory of its screen, which is drawn again from what is kept of its output if it is asked for. */
  forgetScreen(): void {
    this.#screen = undefined;
  }

  /** @throws {InputError} The task was not started with `pty`. */
  protected screenFor(method: string): TaskScreen {
    const { terminal } = this.followed;
    if (terminal === undefined) throw new InputError(`${method}: expected a task with a terminal`);
    this.#screen ??= createTaskScreen(this.followed, terminal);
    return this.#screen;
  }

  /** Closes its stdin, once all data is written. */
  closeInput(): void {
    this.followed.closeInput();
  }

  /**
   * Signals its process group, as Ctrl-C does with 'SIGINT'. Returns false when its command has ended.
   *
   * @throws {InputError} There is no such signal.
   */
  async signal(signal: NodeJS.Signals): Promise<boolean> {
    checkSignal(signal);
    return this.followed.signal(signal);
  }

  /**
   * Ends all of its processes, including those that its command has left running: SIGTERM, grace period,
   * SIGKILL. Resolves when no process is left, or one is known that cannot be ended: see `members()`.
   *
   * @throws {InputError} The grace period is not a time in milliseconds, or an option is unknown.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    const { graceMs } = readOptions('options', options, STOP_NAMES);
    checkGrace(graceMs);
    await this.followed.end(graceMs);
  }
}
