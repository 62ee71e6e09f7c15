import { toBytes } from '../command/execute.js';
import { checkData, checkGrace, checkSignal } from '../command/options.js';
import type { BackgroundProcess } from '../engine/outcome.js';
import type { Receipt } from '../receipt/receipt.js';
import { type OptionNames, readOptions, wholeFrom } from '../support/checks.js';
import { InputError } from '../support/errors.js';
import { readOutput, type TaskOutput } from './output.js';
import { createTaskScreen, type TaskScreen } from './screen.js';
import type { TaskEnd, TaskLifetime, TaskState, TaskStatus } from './status.js';
import type { TaskSubject } from './subject.js';
import { type Awaited, checkUntil, type Until, waitUntil } from './wait.js';

/** A command that outlives its call. */
export interface TaskWork {
  /** What it is, on one line. */
  readonly label: string;
  readonly subject: TaskSubject;
  /** Settles when its command has ended; never rejects. */
  readonly ended: Promise<TaskEnd>;
  /** The last of what it has printed so far, as it is shown. */
  readonly tail: () => string;
  /** Ends its command; what that has left when it has ended already is the subject's to end. */
  readonly cancel: () => void;
  /** Default: 'tool'. */
  readonly lifetime?: TaskLifetime | undefined;
}

/** From where on output is read. Sizes in bytes. */
export interface ReadOptions {
  /** A cursor that was given before. Default: 0, the beginning. */
  readonly since?: number | undefined;
  /** Default: 65,536. */
  readonly maxBytes?: number | undefined;
}

/** How something is waited for. */
export interface WaitOptions {
  /** The cursor from which on a line counts. Default: 0, so that what was printed before counts. */
  readonly since?: number | undefined;
  /** Ends the wait; the task goes on. */
  readonly signal?: AbortSignal | undefined;
}

const READ_NAMES: OptionNames<ReadOptions> = { since: true, maxBytes: true };
const WAIT_NAMES: OptionNames<WaitOptions> = { since: true, signal: true };
const STOP_NAMES: OptionNames<{ graceMs?: number | undefined }> = { graceMs: true };
const READ_BYTES = 64 * 1024;

/** A command that outlives its call: it can be followed, waited for, and acted upon. */
export class Task {
  readonly id: string;
  readonly label: string;
  readonly #subject: TaskSubject;
  /** Undefined once it is over: what it has kept of its output is let go. */
  #work: TaskWork | undefined;
  #ended: Promise<TaskEnd>;
  readonly #lifetime: TaskLifetime;
  readonly #startedAt: number;
  #over: { readonly end: TaskEnd; readonly at: number } | undefined;
  #delivered = false;
  #screen: TaskScreen | undefined;
  #waiting = 0;
  /** Up to where a model has seen its output. */
  #seen = 0;

  /** @param startedAt By the clock of `performance.now()`. */
  constructor(id: string, work: TaskWork, startedAt: number) {
    this.id = id;
    this.label = work.label;
    this.#subject = work.subject;
    this.#work = work;
    this.#lifetime = work.lifetime ?? 'tool';
    this.#startedAt = startedAt;
    this.#ended = work.ended.then((end) => {
      this.#over = { end, at: performance.now() };
      this.#work = undefined;
      return end;
    });
  }

  /** Settles when its command is over, with how it ended: see `end`. Never rejects. */
  get ended(): Promise<TaskEnd> {
    return this.#ended;
  }

  /** Undefined while its command runs; without its text once that has been delivered. */
  get end(): TaskEnd | undefined {
    return this.#over?.end;
  }

  /** All that is known of how its command ended; undefined: it runs, or was never started. */
  get receipt(): Receipt | undefined {
    const { state } = this.#subject;
    return state.kind === 'left' || state.kind === 'ended' ? state.receipt : undefined;
  }

  /** The file with all of its output, if there is one. */
  get outputFile(): string | undefined {
    return this.#subject.outputFile;
  }

  get state(): TaskState {
    if (this.#over === undefined) return 'running';
    const { kind } = this.#subject.state;
    return kind === 'running' ? 'ended' : kind;
  }

  /** Whether its end is there and nobody has been told. */
  get hasNews(): boolean {
    return this.#over !== undefined && !this.#delivered;
  }

  /** Whether somebody waits for its end, and will take it. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  status(): TaskStatus {
    return {
      id: this.id,
      type: 'bash',
      state: this.state,
      ...(this.#over && { result: this.#over.end.result }),
      label: this.label,
      lifetime: this.#lifetime,
      durationMs: (this.#over?.at ?? performance.now()) - this.#startedAt,
    };
  }

  /** The last of what it has printed so far; empty once its command is over. */
  tail(): string {
    return this.#work?.tail() ?? '';
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
    return readOutput(this.#subject, since, wholeFrom('maxBytes', 4, maxBytes));
  }

  /**
   * What it has printed since a model has last looked; it has been seen then.
   *
   * @param part Of more than so many bytes the beginning, with the rest for the next look, or the end.
   */
  async readNew(maxBytes: number, part: 'first' | 'last'): Promise<TaskOutput> {
    const seen = this.#seen;
    const first = await readOutput(this.#subject, seen, maxBytes);
    const isAll = part === 'first' || first.cursor >= first.total;
    const since = Math.max(seen, first.total - maxBytes);
    const output = isAll ? first : await readOutput(this.#subject, since, maxBytes);
    this.#seen = Math.max(this.#seen, output.cursor);
    return isAll ? output : { ...output, missedBytes: output.missedBytes + since - seen };
  }

  /** Up to where a model has seen its output. */
  get seen(): number {
    return this.#seen;
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
    const awaited = await waitUntil(this.#subject, checkUntil(until), since, signal);
    // Its end is there a moment after that of its command.
    if (this.#subject.state.kind !== 'running') await this.#ended;
    return awaited;
  }

  /** Its processes now, leader and all that it has started; undefined: they could not be looked at. */
  members(): Promise<readonly BackgroundProcess[] | undefined> {
    return this.#subject.members();
  }

  /**
   * Writes to its stdin, or types into its terminal: `\r` is Enter there, `\x03` Ctrl-C.
   *
   * @throws {InputError} It was not started with `stdin: 'pipe'` or `pty`.
   * @throws Error with `code: 'EPIPE'`: it has ended, or closed its stdin.
   */
  async write(data: string | Uint8Array): Promise<void> {
    checkData('data', data);
    await this.#subject.write(toBytes(data));
  }

  /**
   * What is on its terminal, as text, without the blank lines at its end.
   *
   * @throws {InputError} It was not started with `pty`.
   */
  async screen(): Promise<string> {
    const { terminal } = this.#subject;
    if (terminal === undefined) throw new InputError('screen: expected a task with a terminal');
    this.#screen ??= createTaskScreen(this.#subject, terminal);
    return this.#screen.text();
  }

  /** Closes its stdin, once everything is written. */
  closeInput(): void {
    this.#subject.closeInput();
  }

  /** Signals its process group, as Ctrl-C does with 'SIGINT'; false: its command has ended. */
  async signal(signal: NodeJS.Signals): Promise<boolean> {
    checkSignal(signal);
    return this.#subject.signal(signal);
  }

  /**
   * Ends all of it, also what its command has left: SIGTERM, grace, SIGKILL. Resolves when nobody is
   * left, or it is known that somebody can't be ended: see `members()`.
   */
  async stop(options: { readonly graceMs?: number | undefined } = {}): Promise<TaskStatus> {
    const { graceMs } = readOptions('options', options, STOP_NAMES);
    checkGrace(graceMs);
    const ended = this.#subject.end(graceMs);
    this.#work?.cancel();
    await Promise.all([ended, this.#ended]);
    return this.status();
  }

  /** Its end, for the first who asks; undefined while it runs, and for those who come later. */
  take(): TaskEnd | undefined {
    if (this.#over === undefined || this.#delivered) return undefined;
    this.#delivered = true;
    const { end, at } = this.#over;
    const delivered = { ...end, text: '' };
    this.#over = { end: delivered, at };
    this.#ended = Promise.resolve(delivered);
    return end;
  }

  /** As long as `work` takes, its end is for whoever does it. */
  async whileAwaited<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
    }
  }
}
