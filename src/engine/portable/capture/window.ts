import { Ring } from './ring.js';

/** What a window kept: every byte, or both ends with how many were between them. */
type Kept =
  | { readonly kind: 'all'; readonly bytes: Buffer }
  | {
      readonly kind: 'ends';
      readonly head: Buffer;
      readonly dropped: number;
      readonly tail: Buffer;
    };

/** Keeps the first `headBytes` and the last `tailBytes` of what is pushed. */
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

  /** How many bytes it holds now. */
  get length(): number {
    return this.#head.length + this.#tail.length;
  }

  /** How many bytes it holds at most. */
  get capacity(): number {
    return this.#headBytes + this.#tailBytes;
  }

  /** Costs a copy of what is kept, however much is pushed. */
  push(chunk: Buffer): void {
    const room = this.#headBytes - this.#head.length;
    if (room > 0) this.#head.push(chunk.subarray(0, room));
    if (chunk.length > room) this.#dropped += this.#tail.push(chunk.subarray(room));
  }

  /** A copy of what is kept so far. */
  peek(): Kept {
    const [head, tail] = [this.#head.copy(), this.#tail.copy()];
    if (this.#dropped > 0) return { kind: 'ends', head, dropped: this.#dropped, tail };
    return { kind: 'all', bytes: tail.length === 0 ? head : Buffer.concat([head, tail]) };
  }

  /** Takes what is kept, and starts afresh. */
  take(): Kept {
    const kept = this.peek();
    this.#head.clear();
    this.#tail.clear();
    this.#dropped = 0;
    return kept;
  }
}
