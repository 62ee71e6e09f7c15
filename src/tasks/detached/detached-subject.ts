import { inCallersContext } from '../../engine/caller.js';
import type { Typing } from '../../engine/message.js';
import type { BackgroundProcess } from '../../engine/outcome.js';
import { ERRNO } from '../../engine/system-error.js';
import type { TerminalSize } from '../../options/terminal.js';
import { checkData, checkGrace, checkSignal } from '../../options/values.js';
import { checkFunction, wholeFrom } from '../../support/checks.js';
import { InputError, messageOf } from '../../support/errors.js';
import { Listener } from '../../support/listener.js';
import { ExclusiveQueue } from '../../support/mutex.js';
import { signalNumber } from '../../support/signals.js';
import type { OutputStretch, SubjectState, TaskSubject } from '../subject.js';
import { watchChanges } from './changes.js';
import { toProcess } from './end-receipt.js';
import { type KeeperConnection, KeeperGone } from './keeper/connection.js';
import type { KeeperState } from './keeper/keeper-state.js';
import { LaterLooks } from './keeper/later-looks.js';
import { type KeeperAnswer, type KeeperCall, LONGEST_WRITE } from './keeper/message.js';
import { notWritten } from './keeper/not-written.js';
import { endOrphan, signalOrphan } from './orphan.js';
import { findGap, hasOutput, type OutputGap, readOutputFile } from './output-file.js';
import type { DetachedOrder } from './place/order.js';
import type { TaskPlace } from './place/place.js';
import { type DetachedRecord, recordOf } from './registry.js';
import { findStanding, type Standing, stateOf, troubleIn } from './standing.js';
import { DetachedTerminal } from './terminal/detached-terminal.js';

/**
 * Subjects with a keeper that this process is connected to, by their directories. A keeper accepts few
 * connections, and a process needs only one to each, however often it asks.
 */
const followed = new Map<string, DetachedSubject>();

/** A detached command, for its followers: any process of the same user may follow it, and several at once. */
export class DetachedSubject implements TaskSubject {
  readonly #place: TaskPlace;
  readonly #order: DetachedOrder;
  /** The calls for its terminal; undefined: it has none. */
  readonly liveTerminal: DetachedTerminal | undefined;
  /** Undefined: no keeper answers. */
  #connection: KeeperConnection | undefined;
  /** The latest state from its keeper, or its record. */
  #known: KeeperState | undefined;
  #state: SubjectState = { kind: 'running' };
  /** The time of the last output, as far as it was observed. */
  #quietSince = Date.now();
  /** A chain of state changes, one at a time. */
  #settled: Promise<void> = Promise.resolve();
  readonly #writes = new ExclusiveQueue();
  readonly #watchers = new Set<Listener<void>>();
  #stopWatching: (() => void) | undefined;
  /** Looks for the end of a keeper without a connection, which writes no record when it is killed. */
  readonly #looks = new LaterLooks();

  private constructor(place: TaskPlace, order: DetachedOrder) {
    this.#place = place;
    this.#order = order;
    if (order.terminal !== undefined) {
      this.liveTerminal = new DetachedTerminal({
        directory: place.directory,
        size: order.terminal,
        ask: (call) => this.#ask(call),
        read: (since, maxBytes) => this.read(since, maxBytes),
      });
    }
  }

  /** Finds out the command's state. A later call gets the same subject, as long as it has a keeper. */
  static async open(place: TaskPlace, order: DetachedOrder): Promise<DetachedSubject> {
    const known = followed.get(place.directory);
    if (known !== undefined) return known;
    const subject = new DetachedSubject(place, order);
    await subject.#then(() => subject.#find());
    return subject;
  }

  /** The task's id, by which any process of the user finds it. */
  get id(): string {
    return this.#place.id;
  }

  /** The private directory of the task, which has its records. */
  get directory(): string {
    return this.#place.directory;
  }

  /** The record of the task's current state. */
  get record(): DetachedRecord {
    return recordOf(this.#place, this.#order, this.#known, this.#state);
  }

  /** The task's state, as far as this process knows. */
  get state(): SubjectState {
    return this.#state;
  }

  get quietSince(): number {
    return this.#quietSince;
  }

  get takesInput(): boolean {
    return this.#order.hasInput;
  }

  /** The size of its terminal, as this process knows it; undefined: it has none. */
  get terminal(): TerminalSize | undefined {
    return this.liveTerminal?.size;
  }

  get outputFile(): string {
    return this.#place.output;
  }

  /** @throws {InputError} `told` is not a function. */
  watch(told: () => void): () => void {
    checkFunction('told', told);
    const watcher = new Listener<void>('watch', inCallersContext(told, undefined));
    this.#watchers.add(watcher);
    this.#stopWatching ??= watchChanges(this.#place.directory, (names) => this.#changed(names));
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      this.#stopWatching?.();
      this.#stopWatching = undefined;
    };
  }

  async read(since: number, maxBytes: number): Promise<OutputStretch> {
    wholeFrom('since', 0, since);
    wholeFrom('maxBytes', 0, maxBytes);
    return readOutputFile(this.#place.output, since, maxBytes);
  }

  /** Returns the part of its output that is missing so far, since the output is longer than its limit. */
  gap(): Promise<OutputGap | undefined> {
    return findGap(this.#place.output);
  }

  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    const answer = await this.#ask({ kind: 'who' });
    if (answer?.kind === 'members') {
      return answer.members.map((member) => toProcess(member, this.#order.command));
    }
    return this.#state.kind === 'ended' ? [] : undefined;
  }

  /**
   * Writes to the command's stdin. Data longer than 64 KiB is sent in pieces, and writes of other
   * processes may come between them.
   *
   * @throws {InputError} The data is neither text nor bytes, or the task was started without an input.
   * @throws Error with `code: 'EPIPE'`: no process can read it any more.
   */
  async write(data: string | Uint8Array): Promise<void> {
    checkData('data', data);
    const all = typeof data === 'string' ? Buffer.from(data) : data;
    if (!this.#order.hasInput) {
      throw new InputError("data: expected a task that was started with stdin: 'pipe' or pty");
    }
    const trouble = troubleIn(this.#state) ?? 'its input is closed';
    await this.#writes.run(async () => {
      for (let at = 0; at < all.length; at += LONGEST_WRITE) {
        const bytes = all.subarray(at, at + LONGEST_WRITE);
        const answer = await this.#ask({ kind: 'write', bytes });
        const errno = answer?.kind === 'written' ? answer.errno : ERRNO.EPIPE;
        if (errno !== 0) throw notWritten(errno, trouble);
      }
    });
  }

  /** Closes its stdin; on a terminal, types Ctrl-D. */
  closeInput(): void {
    if (this.#order.terminal !== undefined) {
      // EPIPE: the command has ended, so no process waits for an end of its input.
      this.write('\x04').catch(() => {});
      return;
    }
    if (this.#order.hasInput) void this.#writes.run(() => this.#ask({ kind: 'closeInput' }));
  }

  /** Sets the size of this process's window on its terminal, if it has one. */
  resize(size: TerminalSize): void {
    void this.liveTerminal?.resize(size);
  }

  /** Returns whether no terminal that shows this one, as `forkline attach` does, answers its programs. */
  async mayAnswer(): Promise<boolean> {
    return (await this.liveTerminal?.isFirst()) ?? false;
  }

  /** Returns how its terminal takes what is typed; undefined without one, or when no keeper answers. */
  async typing(): Promise<Typing | undefined> {
    return this.liveTerminal?.typing();
  }

  /** @throws {InputError} There is no such signal. */
  async signal(signal: NodeJS.Signals): Promise<boolean> {
    checkSignal(signal);
    const answer = await this.#ask({ kind: 'signal', signal: signalNumber(signal) ?? 0 });
    if (answer?.kind === 'signalled') return answer.sent;
    const orphan = this.#orphan();
    return orphan !== undefined && signalOrphan(orphan, signal);
  }

  /** @throws {InputError} The grace period is not a time in milliseconds. */
  async end(graceMs: number = this.#order.graceMs): Promise<void> {
    checkGrace(graceMs);
    const connection = this.#connection;
    const answer = await this.#ask({ kind: 'end', graceMs });
    // No process is left, so the keeper exits as well.
    if (answer?.kind === 'over' && answer.cleared) await connection?.untilClosed();
    await this.#settled;
    const orphan = this.#orphan();
    if (orphan === undefined) return;
    await endOrphan(orphan, graceMs);
    await this.#then(() => this.#find());
  }

  /** Returns undefined when no keeper can answer. */
  async #ask(call: KeeperCall): Promise<KeeperAnswer | undefined> {
    try {
      return await this.#connection?.ask(call);
    } catch (error) {
      if (error instanceof KeeperGone) return undefined;
      throw error;
    }
  }

  /** Returns the state of a command without a keeper, whose own process may still run. */
  #orphan(): KeeperState | undefined {
    const { kind } = this.#state;
    const isAlone = this.#connection === undefined && (kind === 'lost' || kind === 'running');
    return isAlone ? this.#known : undefined;
  }

  /** Does work that changes the state, after all earlier work. */
  #then(work: () => Promise<void>): Promise<void> {
    this.#settled = this.#settled.then(work).catch((error: unknown) => {
      this.#state = { kind: 'lost', reason: messageOf(error) };
      this.#tell();
    });
    return this.#settled;
  }

  async #find(begun?: () => void): Promise<void> {
    begun?.();
    const standing = await findStanding(this.#place);
    if (standing.kind === 'kept') this.#follow(standing.connection);
    await this.#settle(standing);
  }

  #follow(connection: KeeperConnection): void {
    this.#connection = connection;
    followed.set(this.#place.directory, this);
    connection.onChange = () => {
      const { state, isOpen } = connection;
      if (isOpen) void this.#then(() => this.#settle({ kind: 'kept', connection, state }));
      else this.#lose();
    };
    if (!connection.isOpen) this.#lose();
  }

  /** The keeper has exited, because no process is left or it was killed: the record tells which. */
  #lose(): void {
    this.#connection = undefined;
    followed.delete(this.#place.directory);
    void this.#then(async () => {
      if (this.#state.kind !== 'ended') await this.#find();
    });
  }

  async #settle(standing: Standing): Promise<void> {
    this.#known = standing.state ?? this.#known;
    const state = await stateOf(standing, this.#place, this.#order);
    // It may have closed its connections just now, and be gone a moment later.
    const isUnsure = standing.kind === 'recorded' || standing.kind === 'unheard';
    if (isUnsure) this.#looks.plan((begun) => this.#then(() => this.#find(begun)));
    else this.#looks.reset();
    const isNews = state.kind !== this.#state.kind || troubleIn(state) !== troubleIn(this.#state);
    this.#state = state;
    if (isNews) this.#tell();
  }

  #changed(names: ReadonlySet<string>): void {
    const isOpen = this.#state.kind === 'running' || this.#state.kind === 'left';
    // Without a connection, only the record tells the state.
    const isToldByRecord = this.#connection === undefined && isOpen;
    if (isToldByRecord && (names.size === 0 || names.has('output.state'))) {
      void this.#then(() => this.#find());
    }
    const isLonger = [...names].some(hasOutput);
    if (isLonger) this.#quietSince = Date.now();
    if (names.size === 0 || isLonger) this.#tell();
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher.tell();
  }
}
