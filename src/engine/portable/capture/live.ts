import type { EngineChunk } from '../../message.js';
import { completePrefix, decodeText, severedPrefix } from './utf8.js';
import { Window } from './window.js';

/** The least time between two deliveries, unless {@link FULL_BYTES} are waiting. */
const INTERVAL_MS = 50;
/** The number of waiting bytes that are delivered at once. */
const FULL_BYTES = 64 * 1024;
/** The most bytes that may wait for a listener; memory is allocated only as it fills. */
const MOST_WAITING_BYTES = 1024 * 1024;

/** The settings of a listener. */
export interface Listening {
  readonly form: 'text' | 'bytes';
  /**
   * Whether the command waits for the listener; otherwise the middle of the waiting output is dropped,
   * and counted.
   */
  readonly pause: boolean;
}

/** A stretch of output. */
interface Piece {
  readonly bytes: Buffer;
  readonly droppedBytes: number;
}

/**
 * Output of one stream on its way to its listener: throttled, coalesced and bounded. A listener asks for
 * one delivery at a time; until then, bytes are collected here.
 */
export class Live {
  readonly #window = new Window(MOST_WAITING_BYTES / 2, MOST_WAITING_BYTES / 2);
  readonly #isText: boolean;
  #pauses: boolean;
  #isWanted = true;
  #last = Number.NEGATIVE_INFINITY;

  constructor({ form, pause }: Listening) {
    this.#isText = form === 'text';
    this.#pauses = pause;
  }

  push(chunk: Buffer): void {
    this.#window.push(chunk);
  }

  /** Returns whether the pipe should not be read for now. */
  get isFull(): boolean {
    return this.#pauses && this.#window.length >= FULL_BYTES * 2;
  }

  /** Notes that the listener has left, so that the command no longer waits for it. */
  detach(): void {
    this.#pauses = false;
  }

  /** Notes that the listener can take another delivery. */
  want(): void {
    this.#isWanted = true;
  }

  /** Returns when the waiting bytes may be delivered; undefined when none wait, or the listener is busy. */
  due(now: number): number | undefined {
    const { length } = this.#window;
    if (!this.#isWanted || length === 0) return undefined;
    return length >= FULL_BYTES ? now : Math.max(now, this.#last + INTERVAL_MS);
  }

  /** Takes the waiting bytes; nothing, when they are only an unfinished character. */
  take(now: number): readonly EngineChunk[] {
    const pieces = this.#pieces(false);
    if (pieces.length > 0) {
      this.#isWanted = false;
      this.#last = now;
    }
    return this.#chunks(pieces);
  }

  /** Takes all bytes, since the stream has ended. */
  finish(): readonly EngineChunk[] {
    return this.#chunks(this.#pieces(true));
  }

  #pieces(hasEnded: boolean): readonly Piece[] {
    const kept = this.#window.take();
    const pieces: Piece[] =
      kept.kind === 'all'
        ? [{ bytes: kept.bytes, droppedBytes: 0 }]
        : this.#bothEnds(kept.head, kept.dropped, kept.tail);
    const last = pieces.pop();
    if (last !== undefined) pieces.push(hasEnded ? last : this.#holdBack(last));
    return pieces.filter(({ bytes, droppedBytes }) => bytes.length > 0 || droppedBytes > 0);
  }

  /** Keeps an unfinished character until it is complete. */
  #holdBack({ bytes, droppedBytes }: Piece): Piece {
    const whole = this.#isText ? completePrefix(bytes) : bytes.length;
    if (whole < bytes.length) this.#window.push(bytes.subarray(whole));
    return { bytes: bytes.subarray(0, whole), droppedBytes };
  }

  #bothEnds(head: Buffer, dropped: number, tail: Buffer): Piece[] {
    const first = this.#isText ? head.subarray(0, completePrefix(head)) : head;
    const last = this.#isText ? tail.subarray(severedPrefix(tail)) : tail;
    const trimmed = head.length - first.length + tail.length - last.length;
    return [
      { bytes: first, droppedBytes: 0 },
      { bytes: last, droppedBytes: dropped + trimmed },
    ];
  }

  #chunks(pieces: readonly Piece[]): readonly EngineChunk[] {
    return pieces.map(({ bytes, droppedBytes }) => ({
      data: this.#isText ? decodeText(bytes) : bytes,
      droppedBytes,
    }));
  }
}
