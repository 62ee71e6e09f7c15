import type { OutputChunk } from '../engine/outcome.js';
import type { OutputStretch } from './subject.js';

/** Pieces shorter than this are joined: a command that prints byte by byte costs no more. */
const JOINED_BYTES = 4096;
/** Longer pieces are split, since a piece is forgotten as a whole. */
const PIECE_BYTES = 16 * 1024;

interface RingPiece {
  readonly from: number;
  bytes: Buffer;
}

/** Replacement characters: behind them, positions differ from those of the printed bytes. */
const STANDS_FOR_BYTES = /[\uFFFD\u2400]/;

/** The last output of a command, by positions in bytes from its start. */
export class OutputRing {
  readonly #maxBytes: number;
  readonly #pieces: RingPiece[] = [];
  #total = 0;
  #kept = 0;
  #isExact = true;

  /** @param maxBytes The most bytes that are kept, plus one piece. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes printed so far. */
  get total(): number {
    return this.#total;
  }

  /** Returns whether positions are those of the printed bytes. */
  get isExact(): boolean {
    return this.#isExact;
  }

  /** The position of the oldest byte that is kept. */
  get start(): number {
    return this.#pieces[0]?.from ?? this.#total;
  }

  push({ text, droppedBytes }: OutputChunk): void {
    this.#total += droppedBytes;
    if (this.#isExact && STANDS_FOR_BYTES.test(text)) this.#isExact = false;
    const bytes = Buffer.from(text, 'utf8');
    const last = this.#pieces.at(-1);
    const follows = last !== undefined && last.from + last.bytes.length === this.#total;
    if (follows && last.bytes.length + bytes.length <= JOINED_BYTES) {
      last.bytes = Buffer.concat([last.bytes, bytes]);
    } else {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        this.#pieces.push({ from: this.#total + at, bytes: piece });
      }
    }
    this.#total += bytes.length;
    this.#kept += bytes.length;
    this.#forget();
  }

  /** Returns the kept output from a position on, up to the next gap. */
  read(since: number, maxBytes: number): OutputStretch {
    let from = since;
    let room = maxBytes;
    const found: Buffer[] = [];
    for (const piece of this.#pieces) {
      const end = piece.from + piece.bytes.length;
      if (end <= from || room === 0) continue;
      // Output after a gap is a stretch of its own.
      if (piece.from > from && found.length > 0) break;
      from = Math.max(from, piece.from);
      const bytes = piece.bytes.subarray(from - piece.from, from - piece.from + room);
      found.push(bytes);
      from += bytes.length;
      room -= bytes.length;
    }
    const bytes = Buffer.concat(found);
    if (bytes.length === 0)
      return { bytes, from: Math.max(since, this.#total), total: this.#total };
    return { bytes, from: from - bytes.length, total: this.#total };
  }

  #forget(): void {
    while (this.#kept > this.#maxBytes && this.#pieces.length > 1) {
      this.#kept -= this.#pieces.shift()?.bytes.length ?? 0;
    }
    const [only] = this.#pieces;
    const over = this.#kept - this.#maxBytes;
    if (over <= 0 || only === undefined) return;
    // A single piece may be larger than the limit. Copied, since a view would keep all of its memory.
    this.#pieces[0] = { from: only.from + over, bytes: Buffer.from(only.bytes.subarray(over)) };
    this.#kept -= over;
  }
}
