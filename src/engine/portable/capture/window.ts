import { Ring } from './ring.js';

/** The contents of a window: all bytes, or both ends with the number of bytes between them. */
type KeptWindow =
  | { readonly kind: 'all'; readonly bytes: Buffer }
  | {
      readonly kind: 'ends';
      readonly head: Buffer;
      readonly dropped: number;
      readonly tail: Buffer;
    };

/** Keeps the first `headBytes` and the last `tailBytes` of the pushed bytes. */
export class Window {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Ring;
  readonly #tail: Ring;
  #dropped = 0;

  constructor(headBytes: number, tailBytes: number) {
    this.#headBytes = headBytes;
    this.#tailBytes = tailBytes;
    this.#head = new Ring(headBytes);
    this.#tail = new Ring(tailBytes);
  }

  /** Number of bytes that it holds now. */
  get length(): number {
    return this.#head.length + this.#tail.length;
  }

  /** Number of bytes that it can hold. */
  get capacity(): number {
    return this.#headBytes + this.#tailBytes;
  }

  /** Appends bytes. Copies only the kept ones, however many are pushed. */
  push(chunk: Buffer): void {
    const room = this.#headBytes - this.#head.length;
    if (room > 0) this.#head.push(chunk.subarray(0, room));
    if (chunk.length > room) this.#dropped += this.#tail.push(chunk.subarray(room));
  }

  /** Returns a copy of the kept bytes. */
  peek(): KeptWindow {
    const [head, tail] = [this.#head.copy(), this.#tail.copy()];
    if (this.#dropped > 0) return { kind: 'ends', head, dropped: this.#dropped, tail };
    return { kind: 'all', bytes: tail.length === 0 ? head : Buffer.concat([head, tail]) };
  }

  /** Takes the kept bytes, and starts empty. */
  take(): KeptWindow {
    const kept = this.peek();
    this.#head.clear();
    this.#tail.clear();
    this.#dropped = 0;
    return kept;
  }
}
