/** Bytes of a lane that may be on their way, or received and not yet taken. */
export const WINDOW = 1024 * 1024;

/** Bytes of a frame that forkline sends: small, so that calls take turns on the line. */
export const SENT_PAYLOAD = 64 * 1024;

/** Bytes that are granted at a time. */
const GRANTED = WINDOW / 4;

/** A stretch that can be sent now. */
interface Stretch {
  readonly bytes: Uint8Array;
  /** Whether more of the same piece follows. */
  readonly more: boolean;
}

/**
 * One of the two ways that a call has over a line, in both directions: for messages, and for bytes. A
 * lane that is not read does not hold up the other.
 */
export class Lane {
  readonly #isCut: boolean;
  readonly #queue: Uint8Array[] = [];
  /** The position in the first piece from which it goes on. */
  #at = 0;
  #waiting = 0;
  /** Bytes that the other side can take. */
  #credit = WINDOW;
  /** Bytes that the other side may still send. */
  #window = WINDOW;
  /** Bytes that were taken here and not granted again yet. */
  #taken = 0;

  /**
   * Makes an empty lane.
   *
   * @param isCut Whether a piece may be sent in parts that are put together again.
   */
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

  /** Whether the first piece has been sent in part. */
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

  /** Returns the next bytes that can be sent. */
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

  /** Adds to the bytes that the other side can take. */
  credited(bytes: number): void {
    this.#credit += bytes;
  }

  /** Counts bytes that have come. Returns how many of all that have come were not granted. */
  received(bytes: number): number {
    this.#window -= bytes;
    return Math.max(0, -this.#window);
  }

  /**
   * Counts bytes that were taken. Returns how many to grant again; `undefined`: too few for a frame.
   *
   * @param isGuarded Whether nothing is granted while too much waits for the other side, so that a
   *   client that does not read gets no room. Only one of two sides may do so, or both would wait for
   *   each other.
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
