import type { Call } from '../wire/call.js';
import { SENT_PAYLOAD } from '../wire/lane.js';
import { LEAST_PART_BYTES, PART_BYTES, type PartStore } from '../wire/part-store.js';
import type { CommandMessage } from '../wire/protocol.js';
import { errorFrom } from '../wire/thrown.js';

/** What became of a piece: it is in the pipe, or the far side could not take it from the store. */
type PieceEnd = 'wrote' | 'untaken';

interface Write {
  readonly resolve: (written: PieceEnd) => void;
  readonly reject: (error: Error) => void;
}

/** The input of a command on the far side: pieces go over the line, large ones over a store, one after the other. */
export class FarInput {
  readonly #call: Call | undefined;
  readonly #store: PartStore | undefined;
  /** Pieces of input that are not in the pipe yet, oldest first. */
  readonly #writes: Write[] = [];
  /** Settles when the last large piece has gone; `undefined`: there was none. */
  #sending: Promise<void> | undefined;
  /** Parts that this call has put into the store. */
  readonly #parts = new Set<string>();
  #isClosed = false;

  constructor(call: Call | undefined, store: PartStore | undefined) {
    this.#call = call;
    this.#store = store;
  }

  /** @throws Error `EPIPE`: the command takes no more. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#call === undefined || this.#call.isOver) throw brokenPipe();
    if (this.#store !== undefined && bytes.length >= LEAST_PART_BYTES) {
      await this.#inTurn((before) => this.#writeLarge(bytes, before));
    } else if (this.#sending !== undefined) {
      await this.#inTurn(async (before) => {
        await before;
        await this.#writeHere(bytes);
      });
    } else await this.#writeHere(bytes);
  }

  end(): void {
    if (this.#sending === undefined) this.#call?.endData();
    else void this.#sending.then(() => this.#call?.endData());
  }

  /** The oldest piece was written, or was not. */
  told(message: Extract<CommandMessage, { wrote: boolean } | { untaken: string }>): void {
    const write = this.#writes.shift();
    if ('untaken' in message) write?.resolve('untaken');
    else if (message.wrote) write?.resolve('wrote');
    else write?.reject(errorFrom(message.error));
  }

  /**
   * The command has ended.
   *
   * @param isLost Whether the far side may be asked for the same again: then parts stay, for some time.
   */
  close(isLost: boolean): void {
    this.#isClosed = true;
    for (const write of this.#writes.splice(0)) write.reject(brokenPipe());
    if (!isLost && this.#parts.size > 0) void this.#store?.remove(this.#parts);
  }

  /** Does something that begins at once, and ends after all that was begun before. */
  #inTurn(work: (before: Promise<void>) => Promise<void>): Promise<void> {
    const done = work(this.#sending ?? Promise.resolve());
    this.#sending = done.catch(() => {});
    return done;
  }

  /** Puts parts into the store while the ones before are on their way, and names them to the far side in order. */
  async #writeLarge(bytes: Uint8Array, before: Promise<void>): Promise<void> {
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      const part = bytes.subarray(at, at + PART_BYTES);
      const stored = await this.#store?.put(part);
      if (stored !== undefined) this.#parts.add(stored.name);
      if (at === 0) await before;
      if (this.#isClosed) {
        if (stored !== undefined) void this.#store?.remove([stored.name]);
        throw brokenPipe();
      }
      if (stored === undefined) {
        await this.#writeHere(part);
        continue;
      }
      const written = this.#next();
      this.#call?.send({ do: 'input', part: stored });
      if ((await written) === 'untaken') await this.#writeHere(part);
    }
  }

  async #writeHere(bytes: Uint8Array): Promise<void> {
    if (this.#isClosed) throw brokenPipe();
    const pieces: Promise<unknown>[] = [];
    for (let at = 0; at < bytes.length; at += SENT_PAYLOAD) {
      this.#call?.sendData(bytes.subarray(at, at + SENT_PAYLOAD));
      pieces.push(this.#next());
    }
    await Promise.all(pieces);
  }

  #next(): Promise<PieceEnd> {
    return new Promise((resolve, reject) => {
      this.#writes.push({ resolve, reject });
    });
  }
}

function brokenPipe(): Error {
  return Object.assign(new Error('EPIPE: its input is closed'), { code: 'EPIPE', errno: 32 });
}
