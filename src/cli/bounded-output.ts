import { isContinuation } from '../support/text.js';

/** Takes bytes, and settles when it has room for more. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/**
 * Passes on the first half of a limit as it comes, and holds the last half until the end. Where
 * something is left out between them, both are cut at characters.
 */
export class BoundedOutput {
  readonly #write: WriteBytes;
  readonly #limit: number;
  readonly #headLimit: number;
  #headBytes = 0;
  #headDone = false;
  /** The beginning of a character of the head, until its end comes. */
  #unfinished: Uint8Array = new Uint8Array();
  readonly #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #droppedBytes = 0;

  /** @param limit Bytes written in all, at most. */
  constructor(write: WriteBytes, limit: number) {
    this.#write = write;
    this.#limit = limit;
    this.#headLimit = Math.floor(limit / 2);
  }

  async push(chunk: Uint8Array): Promise<void> {
    if (this.#headDone) {
      this.#hold(chunk);
      return;
    }
    const bytes = Buffer.concat([this.#unfinished, chunk]);
    const room = this.#headLimit - this.#headBytes;
    const end = completePrefix(bytes, Math.min(room, bytes.length));
    this.#headBytes += end;
    this.#headDone = bytes.length > room;
    const rest = bytes.subarray(end);
    if (this.#headDone) this.#hold(rest);
    this.#unfinished = this.#headDone ? new Uint8Array() : rest;
    if (end > 0) await this.#write(bytes.subarray(0, end));
  }

  /** Writes what is held; tells how many bytes were left out. */
  async finish(): Promise<number> {
    this.#hold(this.#unfinished);
    const tail = Buffer.concat(this.#tail);
    const skip = this.#droppedBytes > 0 ? severedPrefix(tail) : 0;
    if (skip < tail.length) await this.#write(tail.subarray(skip));
    return this.#droppedBytes + skip;
  }

  #hold(bytes: Uint8Array): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    let excess = this.#tailBytes - (this.#limit - this.#headBytes);
    while (excess > 0) {
      const [first] = this.#tail;
      if (first === undefined) break;
      const cut = Math.min(excess, first.length);
      if (cut === first.length) this.#tail.shift();
      else this.#tail[0] = first.subarray(cut);
      this.#tailBytes -= cut;
      this.#droppedBytes += cut;
      excess -= cut;
    }
  }
}

/** The length of `bytes` up to `end` without the beginning of a character that ends after it. */
function completePrefix(bytes: Uint8Array, end: number): number {
  for (let length = 1; length <= 3 && length <= end; length += 1) {
    const byte = bytes[end - length] ?? 0;
    if (isContinuation(byte)) continue;
    return characterLength(byte) > length ? end - length : end;
  }
  return end;
}

/** How many bytes at the beginning only end a character; more than three are not UTF-8 anyway. */
function severedPrefix(bytes: Uint8Array): number {
  let length = 0;
  while (length < 3 && isContinuation(bytes[length])) length += 1;
  return length;
}

/** The length of the character that a byte begins; 1 for one that begins none. */
function characterLength(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}
