import type { ReadStream, WriteStream } from 'node:tty';
import type { TerminalSize } from '../../../options/terminal.js';
import { isAbortSignal } from '../../../support/abort.js';
import { type OptionNames, readOptions } from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';
import { firstOf, pause } from '../../../support/timing.js';
import type { DetachedSubject } from '../detached-subject.js';
import { DEFAULT_KEYS, DetachKeys, parseDetachKeys } from './detach-keys.js';
import type { DetachedTerminal } from './detached-terminal.js';
import { LineFeeds } from './line-feeds.js';
import { Replica } from './replica.js';
import { hasReplies, withoutReplies } from './replies.js';
import type { TerminalStream } from './stream.js';
import { UserTerminal } from './user-terminal.js';

/** Options for showing a task's terminal on a user's. */
export interface ShowOptions {
  /** The user's keyboard: `process.stdin`, when it is a terminal. */
  readonly input: ReadStream;
  /** The user's screen: `process.stdout`, when it is a terminal. */
  readonly output: WriteStream;
  /**
   * The keys by which the user leaves, separated by commas: characters, or `ctrl-` and one of `a` to `z`,
   * `@`, `[`, `\`, `]`, `^`, `_`. Default: `ctrl-\`.
   */
  readonly detachKeys?: string | undefined;
  /** Aborting it leaves the task. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Why a terminal is no longer shown: the command has ended, or its keeper is lost; the user has left by the
 * keys; the signal was aborted; or the user's terminal is gone.
 */
export type ShowEnd = 'ended' | 'detached' | 'aborted' | 'gone';

const NAMES: OptionNames<ShowOptions> = {
  input: true,
  output: true,
  detachKeys: true,
  signal: true,
};

/** Time until a keeper is asked again that did not answer, in milliseconds, and how often in a row. */
const AGAIN_MS = 300;
const MOST_FAILURES = 10;
const NO_ROOM = 'its keeper takes no further connection: too many are attached';
/** The most bytes of typed keys that wait for the command. */
const MOST_TYPED = 64 * 1024;

/** Shows a task's terminal on a user's, until the command has ended or the user leaves. */
export async function showTerminal(
  subject: DetachedSubject,
  terminal: DetachedTerminal,
  options: ShowOptions,
): Promise<ShowEnd> {
  const given = readOptions('options', options, NAMES);
  const { input, output, detachKeys = DEFAULT_KEYS, signal } = given;
  if (!input?.isTTY) throw new InputError('input: expected a terminal, got something else');
  if (!output?.isTTY) throw new InputError('output: expected a terminal, got something else');
  if (signal !== undefined && !isAbortSignal(signal)) {
    throw new InputError(`signal: expected an AbortSignal, got ${showValue(signal)}`);
  }
  const keys = parseDetachKeys(detachKeys);
  return new ShownTerminal(subject, terminal, { input, output, keys, signal }).untilEnd();
}

interface UserSide {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly keys: Buffer;
  readonly signal: AbortSignal | undefined;
}

class ShownTerminal {
  readonly #subject: DetachedSubject;
  readonly #terminal: DetachedTerminal;
  readonly #signal: AbortSignal | undefined;
  readonly #keys: DetachKeys;
  readonly #user: UserTerminal;
  readonly #lineFeeds = new LineFeeds();
  readonly #left: Promise<ShowEnd>;
  #leave: (why: ShowEnd) => void = () => {};
  readonly #over: Promise<void>;
  #end = (): void => {};
  #isOver = false;
  /** Whether the user's terminal is given back: nothing is shown any more. */
  #isLeft = false;
  #stream: TerminalStream | undefined;
  /** Whether the screen is to be drawn anew, though nothing is missing. */
  #isStale = false;
  /** The position in the output up to which it is shown. */
  #shownTo = 0;
  /** Whether the user's window is larger than the terminal, so that only a part of it scrolls. */
  #isBounded = false;
  #wasDrawn = false;
  #typedBytes = 0;
  /** A chain of writes, one at a time. */
  #sent: Promise<void> = Promise.resolve();

  constructor(subject: DetachedSubject, terminal: DetachedTerminal, side: UserSide) {
    this.#subject = subject;
    this.#terminal = terminal;
    this.#signal = side.signal;
    this.#keys = new DetachKeys(side.keys);
    this.#left = new Promise((resolve) => (this.#leave = resolve));
    this.#over = new Promise((resolve) => (this.#end = resolve));
    this.#user = new UserTerminal(side.input, side.output, {
      keys: (data) => this.#type(data),
      resize: (size) => void this.#terminal.resize(size),
      redraw: () => this.#drawAnew(),
      gone: () => this.#leave('gone'),
    });
  }

  async untilEnd(): Promise<ShowEnd> {
    const stopWatching = this.#subject.watch(() => this.#look());
    const abort = (): void => this.#leave('aborted');
    this.#signal?.addEventListener('abort', abort);
    if (this.#signal?.aborted) abort();
    this.#look();
    let why: ShowEnd = 'ended';
    try {
      why = await Promise.race([this.#left, this.#show()]);
      return why;
    } finally {
      stopWatching();
      this.#signal?.removeEventListener('abort', abort);
      this.#isLeft = true;
      this.#stream?.close();
      void this.#terminal.leave();
      this.#user.giveBack(why === 'ended' ? '' : '\r\n');
    }
  }

  /** Ends the show when the command has ended, or its state cannot be found out any more. */
  #look(): void {
    if (this.#subject.state.kind === 'running') return;
    this.#isOver = true;
    this.#end();
    this.#stream?.close();
  }

  async #show(): Promise<ShowEnd> {
    await this.#terminal.resize(this.#user.size);
    let failures = 0;
    while (!this.#isOver && !this.#isLeft) {
      const stream = await this.#terminal.follow(0, true).catch(() => undefined);
      if (stream === undefined) {
        // The keeper is gone, which shows in a moment; or it has no room for one more client.
        failures += 1;
        if (failures === MOST_FAILURES) throw new Error(NO_ROOM);
        await firstOf(this.#over, pause(AGAIN_MS));
        continue;
      }
      failures = 0;
      this.#stream = stream;
      // Closed when the command ends; it may have ended just now.
      if (this.#isOver) stream.close();
      await this.#showStream(stream);
      stream.close();
    }
    if (!this.#isLeft) await this.#showRest();
    return 'ended';
  }

  /** Shows a stream until it ends, or the screen is to be drawn anew, from another one. */
  async #showStream(stream: TerminalStream): Promise<void> {
    let replica: Replica | undefined;
    let [isWhole, isDrawn] = [true, false];
    this.#isStale = false;
    try {
      for (;;) {
        const message = await stream.next();
        if (message === undefined || this.#isStale || this.#isLeft) return;
        if (message.kind === 'resized') {
          if (isDrawn && this.#isOther(message.size)) return;
          replica?.resize(message.size);
          if (!isDrawn) replica ??= await Replica.create(message.size);
        } else if (message.kind === 'done') {
          if (replica !== undefined) await this.#draw(replica, isWhole);
          isDrawn = true;
          replica?.dispose();
          replica = undefined;
        } else {
          const { from, modes, bytes } = message;
          if (isDrawn && from !== this.#shownTo) return;
          if (!isDrawn && modes.length > 0) {
            isWhole = false;
            await replica?.write(modes);
          }
          await (isDrawn ? this.#print(bytes) : replica?.write(bytes));
          this.#shownTo = from + bytes.length;
        }
      }
    } finally {
      replica?.dispose();
    }
  }

  /** Returns whether output for a terminal of this size does not fit the user's as it comes. */
  #isOther({ columns, rows }: TerminalSize): boolean {
    const { size } = this.#user;
    return this.#isBounded || columns !== size.columns || rows !== size.rows;
  }

  async #draw(replica: Replica, isWhole: boolean): Promise<void> {
    if (this.#isLeft) return;
    const { size, modes } = this.#user;
    this.#isBounded = replica.size.rows < size.rows;
    // What was on the screen before can be scrolled back to.
    const before = this.#wasDrawn ? '' : `\x1b[${size.rows};1H${'\n'.repeat(size.rows)}`;
    this.#wasDrawn = true;
    modes.note(replica.modes);
    await this.#user.write(before + replica.drawing(this.#isBounded));
    // A program that takes all of the screen draws it anew, with what a copy does not have.
    if (!isWhole || replica.isAlternate) void this.#terminal.resize(size, true);
  }

  async #print(bytes: Uint8Array): Promise<void> {
    if (this.#isLeft) return;
    this.#user.modes.read(bytes);
    await this.#user.write(this.#lineFeeds.convert(bytes));
  }

  /** Shows what the command has printed at its end. */
  async #showRest(): Promise<void> {
    const stream = await this.#terminal.follow(this.#shownTo, false).catch(() => undefined);
    for (;;) {
      const message = await stream?.next();
      if (message === undefined || message.kind === 'done') break;
      if (message.kind !== 'output') continue;
      await this.#print(message.bytes);
      this.#shownTo = message.from + message.bytes.length;
    }
    stream?.close();
    // No keeper is left to tell it: the rest is in the file, unless that was full.
    const { total } = await this.#subject.read(Number.MAX_SAFE_INTEGER, 0);
    const since = Math.max(this.#shownTo, total - LAST_BYTES);
    const { bytes } = await this.#subject.read(since, LAST_BYTES);
    if (bytes.length > 0) await this.#print(bytes);
  }

  #drawAnew(): void {
    this.#isStale = true;
    this.#wasDrawn = false;
    // Its messages so far are for a screen that is not there any more.
    this.#stream?.close();
  }

  #type(data: Uint8Array): void {
    const { forward, isLeaving } = this.#keys.push(data);
    if (forward.length > 0) void this.#send(forward);
    if (isLeaving) this.#leave('detached');
  }

  async #send(keys: Buffer): Promise<void> {
    this.#typedBytes += keys.length;
    if (this.#typedBytes > MOST_TYPED) this.#user.holdKeys(true);
    this.#sent = this.#sent.then(() => this.#write(keys));
    await this.#sent;
    this.#typedBytes -= keys.length;
    if (this.#typedBytes <= MOST_TYPED) this.#user.holdKeys(false);
  }

  async #write(typed: Buffer): Promise<void> {
    // A question to the terminal reaches all that show it, and takes one answer.
    const isAnswered = hasReplies(typed) && !(await this.#terminal.isFirst());
    const keys = isAnswered ? withoutReplies(typed) : typed;
    // A command that has ended takes no keys; its end is told all the same.
    if (keys.length > 0) await this.#subject.write(keys).catch(() => {});
  }
}

/** As much as a keeper has in memory, in bytes. */
const LAST_BYTES = 256 * 1024;
