import type { Capture, Counts } from '../../outcome.js';
import {
  CharacterCount,
  completePrefix,
  countCodePoints,
  decodeText,
  severedPrefix,
} from './utf8.js';
import { Window } from './window.js';

const NEWLINE = 0x0a;

/** Keeps both ends of a stream, and counts all of it. The same as native/engine/src/capture. */
export class PortableCapture {
  readonly #window: Window;
  readonly #characters = new CharacterCount();
  #bytes = 0;
  #newlines = 0;
  #hasNul = false;
  #endsWithNewline = true;
  #lastLineBytes = 0;

  constructor(headBytes: number, tailBytes: number) {
    this.#window = new Window(headBytes, tailBytes);
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#bytes += chunk.length;
    this.#newlines += countNewlines(chunk);
    this.#hasNul ||= chunk.includes(0);
    this.#measureLastLine(chunk);
    this.#characters.push(chunk);
    this.#window.push(chunk);
  }

  /**
   * Returns whether it will still hold every byte after `more` bytes, and these are no more than `limit`
   * in all.
   */
  holds(more: number, limit: number): boolean {
    return this.#bytes + more <= Math.min(limit, this.#window.capacity);
  }

  /** Returns its bytes: the whole stream, as long as it {@link holds} that. */
  bytes(): Buffer {
    const kept = this.#window.peek();
    return kept.kind === 'all' ? kept.bytes : Buffer.concat([kept.head, kept.tail]);
  }

  /** Returns the capture so far; the stream goes on. */
  snapshot(): Capture {
    const { characters, isInvalid } = this.#characters.total();
    const lines = this.#newlines + Number(!this.#endsWithNewline);
    const total = { bytes: this.#bytes, characters, lines };
    const lossy = isInvalid || this.#hasNul;
    const kept = this.#window.peek();
    if (kept.kind === 'all')
      return { kind: 'complete', text: decodeText(kept.bytes), total, lossy };
    const lastLineBytes = this.#lastLineBytes;
    return { kind: 'cut', ...this.#cut(kept.head, kept.tail, total), total, lastLineBytes, lossy };
  }

  /** Trims both ends to whole characters, and counts what lies between them. */
  #cut(head: Buffer, tail: Buffer, total: Counts): Ends {
    const first = head.subarray(0, completePrefix(head));
    const last = tail.subarray(severedPrefix(tail));
    const [headText, tailText] = [decodeText(first), decodeText(last)];
    const kept = countCodePoints(headText) + countCodePoints(tailText);
    const dropped = {
      bytes: total.bytes - first.length - last.length,
      // Cut binary data may decode to more characters than whole data.
      characters: Math.max(0, total.characters - kept),
      lines: this.#newlines - countNewlines(first) - countNewlines(last),
    };
    return { head: headText, tail: tailText, dropped };
  }

  /** Measures the last line: one with its newline stays the last until another begins. */
  #measureLastLine(chunk: Buffer): void {
    if (this.#endsWithNewline) this.#lastLineBytes = 0;
    this.#endsWithNewline = chunk[chunk.length - 1] === NEWLINE;
    const length = chunk.length - Number(this.#endsWithNewline);
    const newline = chunk.subarray(0, length).lastIndexOf(NEWLINE);
    if (newline === -1) this.#lastLineBytes += length;
    else this.#lastLineBytes = length - newline - 1;
  }
}

interface Ends {
  readonly head: string;
  readonly tail: string;
  readonly dropped: Counts;
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index += 1) if (bytes[index] === NEWLINE) count += 1;
  return count;
}
