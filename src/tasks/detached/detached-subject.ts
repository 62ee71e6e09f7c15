import { inCallersContext } from '../../engine/caller.js';
import type { BackgroundProcess } from '../../engine/outcome.js';
import { ERRNO, errorCode } from '../../engine/system-error.js';
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
import { type KeeperAnswer, type KeeperCall, LONGEST_WRITE } from './keeper/message.js';
import { endOrphan, signalOrphan } from './orphan.js';
import { readOutputFile } from './output-file.js';
import type { DetachedOrder } from './place/order.js';
import type { TaskPlace } from './place/place.js';
import { type DetachedRecord, recordOf } from './registry.js';
import { findStanding, type Standing, stateOf } from './standing.js';

/**
 * Those whose keepers this process talks to, by their directories. A keeper has room for some, and one
 * process needs one line to it, however often it asks.
 */
const followed = new Map<string, DetachedSubject>();

/** A detached command, for whoever follows it; any process of the user's may, and several at once. */
export class DetachedSubject implements TaskSubject {
  readonly #place: TaskPlace;
  readonly #order: DetachedOrder;
  /** Undefined: there is nobody to be asked. */
  #connection: KeeperConnection | undefined;
  /** What its keeper has said last, or its record. */
  #known: KeeperState | undefined;
  #state: SubjectState = { kind: 'running' };
  /** When it printed last, as far as it was looked at. */
  #quietSince = Date.now();
  /** One change after the other. */
  #settled: Promise<void> = Promise.resolve();
  readonly #writes = new ExclusiveQueue();
  readonly #watchers = new Set<Listener<void>>();
  #stopWatching: (() => void) | undefined;

  private constructor(place: TaskPlace, order: DetachedOrder) {
    this.#place = place;
    this.#order = order;
  }

  /** Finds out how it stands. Whoever asks again while it is kept gets the same one. */
  static async open(place: TaskPlace, order: DetachedOrder): Promise<DetachedSubject> {
    const known = followed.get(place.directory);
    if (known !== undefined) return known;
    const subject = new DetachedSubject(place, order);
    await subject.#then(() => subject.#find());
    return subject;
  }

  /** Its id, by which any process of the user finds it. */
  get id(): string {
    return this.#place.id;
  }

  /** What is known of it now. */
  get record(): DetachedRecord {
    return recordOf(this.#place, this.#order, this.#known, this.#state);
  }

  /** How it stands, as far as this process has heard. */
  get state(): SubjectState {
    return this.#state;
  }

  get quietSince(): number {
    return this.#quietSince;
  }

  /** It has none: whoever is there may come and go. */
  get terminal(): undefined {
    return undefined;
  }

  get outputFile(): string {
    return this.#place.output;
  }

  /** @throws {InputError} What is to be told is no function. */
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

  async members(): Promise<readonly BackgroundProcess[] | undefined> {
    const answer = await this.#ask({ kind: 'who' });
    if (answer?.kind === 'members') {
      return answer.members.map((member) => toProcess(member, this.#order.command));
    }
    return this.#state.kind === 'ended' ? [] : undefined;
  }

  /**
   * What is longer than 64 KiB goes in pieces, and what others write may come between them.
   *
   * @throws {InputError} The data is neither text nor bytes, or it was started without an input.
   * @throws Error with `code: 'EPIPE'`: nobody can read it any more.
   */
  async write(data: string | Uint8Array): Promise<void> {
    checkData('data', data);
    const all = typeof data === 'string' ? Buffer.from(data) : data;
    if (!this.#order.hasInput) {
      throw new InputError('data: expected nothing, this task was started without an input');
    }
    await this.#writes.run(async () => {
      for (let at = 0; at < all.length; at += LONGEST_WRITE) {
        const bytes = all.subarray(at, at + LONGEST_WRITE);
        const answer = await this.#ask({ kind: 'write', bytes });
        const errno = answer?.kind === 'written' ? answer.errno : ERRNO.EPIPE;
        if (errno !== 0) throw notWritten(errno);
      }
    });
  }

  closeInput(): void {
    if (this.#order.hasInput) void this.#writes.run(() => this.#ask({ kind: 'closeInput' }));
  }

  /** @throws {InputError} There is no such signal. */
  async signal(signal: NodeJS.Signals): Promise<boolean> {
    checkSignal(signal);
    const answer = await this.#ask({ kind: 'signal', signal: signalNumber(signal) ?? 0 });
    if (answer?.kind === 'signalled') return answer.sent;
    const orphan = this.#orphan();
    return orphan !== undefined && signalOrphan(orphan, signal);
  }

  /** @throws {InputError} The grace is no time in milliseconds. */
  async end(graceMs: number = this.#order.graceMs): Promise<void> {
    checkGrace(graceMs);
    const connection = this.#connection;
    const answer = await this.#ask({ kind: 'end', graceMs });
    // Nobody is left, so its keeper ends as well.
    if (answer?.kind === 'over' && answer.cleared) await connection?.untilClosed();
    await this.#settled;
    const orphan = this.#orphan();
    if (orphan === undefined) return;
    await endOrphan(orphan, graceMs);
    await this.#then(() => this.#find());
  }

  /** Undefined: there is nobody who could answer. */
  async #ask(call: KeeperCall): Promise<KeeperAnswer | undefined> {
    try {
      return await this.#connection?.ask(call);
    } catch (error) {
      if (error instanceof KeeperGone) return undefined;
      throw error;
    }
  }

  /** A command that has nobody who could be told to signal it; its own process may be there. */
  #orphan(): KeeperState | undefined {
    const { kind } = this.#state;
    const isAlone = this.#connection === undefined && (kind === 'lost' || kind === 'running');
    return isAlone ? this.#known : undefined;
  }

  /** Does what changes the state, when all that came before is done. */
  #then(work: () => Promise<void>): Promise<void> {
    this.#settled = this.#settled.then(work).catch((error: unknown) => {
      this.#state = { kind: 'lost', reason: messageOf(error) };
      this.#tell();
    });
    return this.#settled;
  }

  async #find(): Promise<void> {
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

  /** Its keeper has ended, as it does when nobody is left, or was killed: its record tells. */
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
    const isNews = state.kind !== this.#state.kind;
    this.#state = state;
    if (isNews) this.#tell();
  }

  #changed(names: ReadonlySet<string>): void {
    const isOpen = this.#state.kind === 'running' || this.#state.kind === 'left';
    // Of one that has no socket its record tells alone.
    const isToldByRecord = this.#connection === undefined && isOpen;
    if (isToldByRecord && (names.size === 0 || names.has('output.state'))) {
      void this.#then(() => this.#find());
    }
    if (names.has('output')) this.#quietSince = Date.now();
    if (names.size === 0 || names.has('output')) this.#tell();
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher.tell();
  }
}

function notWritten(errno: number): Error {
  const code = errorCode(errno);
  return Object.assign(new Error(`${code}: nobody reads its input any more`), { code, errno });
}
