/** Bytes of a lane that are on their way, or lie where nobody has taken them. */
export const WINDOW = 1024 * 1024;

/** A frame of ours carries so much, so that calls take turns on the line. */
export const SENT_PAYLOAD = 64 * 1024;

/** So much at a time is granted anew. */
const GRANTED = WINDOW / 4;

/** A stretch that can be sent now. */
interface Stretch {
  readonly bytes: Uint8Array;
  /** More of the same piece follows. */
  readonly more: boolean;
}

/**
 * One of the two ways that a call has over a line, in both directions: for messages, and for bytes.
 * What nobody takes on one holds up nothing on the other.
 */
export class Lane {
  readonly #isCut: boolean;
  readonly #queue: Uint8Array[] = [];
  /** Where the first goes on. */
  #at = 0;
  #waiting = 0;
  /** Bytes that the other side can take. */
  #credit = WINDOW;
  /** Bytes that it may still send. */
  #window = WINDOW;
  /** Bytes that were taken here, and not granted anew yet. */
  #taken = 0;

  /** @param isCut Whether a piece may be sent in parts, to be put together again. */
  constructor(isCut: boolean) {
    this.#isCut = isCut;
  }

  /** Bytes that wait to be sent. */
  get waiting(): number {
    return this.#waiting;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** Whether the first has been sent in part. */
  get isUnderWay(): boolean {
    return this.#at > 0;
  }

  /** Whether something waits that could be sent. */
  get canSend(): boolean {
    const [first] = this.#queue;
    if (first === undefined) return false;
    const needed = this.#isCut ? Math.min(first.length, 1) : first.length;
    return this.#credit >= needed;
  }

  put(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#waiting += bytes.length;
  }

  clear(): void {
    this.#queue.length = this.#waiting = this.#at = 0;
  }

  /** The next that can be sent. */
  next(): Stretch | undefined {
    const [first] = this.#queue;
    if (first === undefined || !this.canSend) return undefined;
    const size = Math.min(first.length - this.#at, SENT_PAYLOAD, this.#credit);
    const bytes = first.subarray(this.#at, this.#at + size);
    this.#at += size;
    this.#credit -= size;
    this.#waiting -= size;
    const more = this.#at < first.length;
    if (!more) {
      this.#queue.shift();
      this.#at = 0;
    }
    return { bytes, more };
  }

  /** The other side can take so much more. */
  credited(bytes: number): void {
    this.#credit += bytes;
  }

  /** So much has come; false: more than was granted. */
  received(bytes: number): boolean {
    this.#window -= bytes;
    return this.#window >= 0;
  }

  /**
   * Bytes that came have been taken; how many are to be granted anew, if it is worth a frame.
   *
   * @param isGuarded Not while more waits for the other side than it should: who does not read gets
   *   no room. Of two sides one may do so, or both would wait for each other.
   */
  consumed(bytes: number, isGuarded: boolean): number | undefined {
    this.#taken += bytes;
    if (this.#taken < GRANTED || (isGuarded && this.#waiting > WINDOW)) return undefined;
    const granted = this.#taken;
    this.#window += granted;
    this.#taken = 0;
    return granted;
  }
}
