import { open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { onBehalfOfNobody } from '../../../engine/caller.js';
import { errorOf } from '../../../support/errors.js';
import { settlesWithin } from '../../../support/timing.js';
import type { KeeperState } from './keeper-state.js';
import {
  decodeAnswer,
  encodeCall,
  type FollowedMessage,
  type KeeperAnswer,
  type KeeperCall,
  MessageStream,
} from './message.js';

/** The name of a keeper's socket, beside the output. */
const SOCKET = 'output.socket';

/** The longest that a keeper takes to report its command's state. */
const PATIENCE_MS = 2000;

/** The connection to the keeper has ended, so its answer will not come. */
export class KeeperGone extends Error {
  override readonly name = 'KeeperGone';
}

/** A process accepts the connection and does not answer. */
export class KeeperSilent extends Error {
  override readonly name = 'KeeperSilent';
}

interface PendingCall {
  readonly answer: (answer: KeeperAnswer) => void;
  readonly fail: (error: Error) => void;
}

/**
 * The connection to the keeper of a detached command. It keeps the host alive only while an answer is
 * awaited.
 */
export class KeeperConnection {
  readonly #socket: Socket;
  readonly #stream = new MessageStream();
  readonly #asked = new Map<number, PendingCall>();
  readonly #first: Promise<void>;
  readonly #closed: Promise<void>;
  /** Whether the keeper's exit is awaited. */
  #isAwaited = false;
  #begin = (): void => {};
  #lastNumber = 0;
  #state: KeeperState | undefined;
  #isOpen = true;
  /** The number of the call that follows the terminal, and what is called with its messages. */
  #following:
    | { readonly number: number; readonly told: (message: FollowedMessage) => void }
    | undefined;
  /** Called when the state has changed, or the connection has ended. */
  onChange = (): void => {};

  /**
   * @param directory The directory of the command's output.
   * @throws {KeeperGone} No keeper listens. {@link KeeperSilent}, or an error of the system.
   */
  static async open(directory: string): Promise<KeeperConnection> {
    // The path of a socket is limited, so a long one is shortened by an open directory.
    const path = join(directory, SOCKET);
    const isShort = Buffer.byteLength(path) <= LONGEST_PATH;
    const folder = isShort ? undefined : await open(directory);
    try {
      const near = folder === undefined ? path : `/proc/self/fd/${folder.fd}/${SOCKET}`;
      return await KeeperConnection.#connect(near);
    } finally {
      await folder?.close();
    }
  }

  static async #connect(path: string): Promise<KeeperConnection> {
    const { connect } = process.getBuiltinModule('node:net');
    const connection = new KeeperConnection(onBehalfOfNobody(() => connect(path)));
    if (!(await settlesWithin(connection.#first, PATIENCE_MS, 'keepsAlive'))) {
      connection.close();
      throw new KeeperSilent('its keeper does not answer');
    }
    connection.#weigh();
    return connection;
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#first = new Promise((resolve, reject) => {
      this.#begin = resolve;
      let reason: Error | undefined;
      socket.on('error', (error) => (reason = error));
      socket.on('close', () => {
        this.#end();
        reject(reason ?? new KeeperGone('its keeper has ended'));
      });
    });
    this.#closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (piece) => this.#hear(piece));
  }

  /** The last state that the keeper has reported. */
  get state(): KeeperState {
    if (this.#state === undefined) throw new KeeperGone('its keeper did not tell its state');
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Sends a call and waits for the answer.
   *
   * @throws {KeeperGone} The keeper has exited without an answer.
   */
  ask(call: KeeperCall): Promise<KeeperAnswer> {
    if (!this.#isOpen) return Promise.reject(new KeeperGone('its keeper has ended'));
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    return new Promise((answer, fail) => {
      this.#asked.set(number, { answer, fail });
      this.#weigh();
      this.#socket.write(encodeCall(number, call));
    });
  }

  /**
   * Follows the command's terminal from a position on.
   *
   * @param live Whether later output is told, too.
   * @param told Called with each message, as long as the connection is open.
   * @returns Settles when the output so far has been told.
   * @throws {KeeperGone} The keeper has exited before.
   */
  async follow(
    since: number,
    live: boolean,
    told: (message: FollowedMessage) => void,
  ): Promise<void> {
    this.#following = { number: this.#lastNumber + 1, told };
    await this.ask({ kind: 'follow', since, live });
  }

  /** Resolves when the keeper has exited. */
  untilClosed(): Promise<void> {
    this.#isAwaited = true;
    this.#weigh();
    return this.#closed;
  }

  /** Reads no more for now: the keeper forgets what it does not get rid of, and tells the gap. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(piece: Buffer): void {
    try {
      for (const message of this.#stream.push(piece)) this.#take(message);
    } catch (error) {
      // Data that breaks the protocol does not come from a keeper.
      this.#socket.destroy(errorOf(error));
    }
  }

  #take(message: Buffer): void {
    const { number, answer } = decodeAnswer(message);
    if (answer.kind === 'state') {
      this.#state = answer.state;
      this.#begin();
      this.onChange();
      return;
    }
    const isFollowed = number === this.#following?.number && isFollowedMessage(answer);
    if (isFollowed) this.#following?.told(answer);
    if (isFollowed && answer.kind !== 'done') return;
    this.#asked.get(number)?.answer(answer);
    this.#asked.delete(number);
    this.#weigh();
  }

  #end(): void {
    this.#isOpen = false;
    const reason = new KeeperGone('its keeper has ended');
    for (const { fail } of this.#asked.values()) fail(reason);
    this.#asked.clear();
    this.onChange();
  }

  #weigh(): void {
    if (this.#asked.size > 0 || this.#isAwaited) this.#socket.ref();
    else this.#socket.unref();
  }
}

function isFollowedMessage(answer: KeeperAnswer): answer is FollowedMessage {
  return answer.kind === 'output' || answer.kind === 'resized' || answer.kind === 'done';
}

/** The kernel's limit in bytes. */
const LONGEST_PATH = 107;
