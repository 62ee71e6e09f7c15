import { TextDecoder } from 'node:util';
import type { Capture, Counts } from '../../engine/outcome.js';
import { isContinuation } from '../../support/text.js';

/** How much of a stream is kept, in bytes of its text in UTF-8. */
interface Limits {
  readonly headBytes: number;
  readonly tailBytes: number;
}

/**
 * The capture of a stream that is not in UTF-8. Keeps the same text as the engine would keep if the
 * stream were in UTF-8; all counts of bytes are those of UTF-8.
 */
export class DecodedCapture {
  readonly #decoder: TextDecoder;
  readonly #limits: Limits;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #bytes = 0;
  #characters = 0;
  #newlines = 0;
  /** Bytes since the last newline, and bytes of the line that this newline ended. */
  #openLine = 0;
  #endedLine = 0;
  #lossy = false;

  constructor(encoding: string, limits: Limits) {
    this.#decoder = new TextDecoder(encoding);
    this.#limits = limits;
  }

  /** Takes the next bytes. Returns their text up to the last whole character. */
  push(bytes: Uint8Array): string {
    return this.#add(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Notes that no bytes follow. Returns the replacement of a last character that is incomplete. */
  end(): string {
    return this.#add(this.#decoder.decode());
  }

  /** Returns the capture of the output so far. */
  capture(): Capture {
    const isOpen = this.#openLine > 0;
    const lines = this.#newlines + Number(isOpen);
    const total = { bytes: this.#bytes, characters: this.#characters, lines };
    const lossy = this.#lossy;
    const [head, tail] = [Buffer.concat(this.#head), Buffer.concat(this.#tail)];
    if (this.#bytes === head.length + tail.length && tail.length <= this.#limits.tailBytes) {
      const text = Buffer.concat([head, tail]).toString();
      return { kind: 'complete', text, total, lossy };
    }
    return cut(head, lastOf(tail, this.#limits.tailBytes), {
      total: { ...total, lines: this.#newlines },
      lines,
      lastLineBytes: isOpen ? this.#openLine : this.#endedLine,
      lossy,
    });
  }

  #add(decoded: string): string {
    if (decoded === '') return decoded;
    const text = decoded.replaceAll('\0', '␀');
    this.#lossy ||= text !== decoded || text.includes('\ufffd');
    const bytes = Buffer.from(text);
    this.#count(bytes);
    this.#keep(bytes);
    return text;
  }

  #count(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#characters += charactersIn(bytes);
    let start = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, start)) {
      this.#newlines += 1;
      this.#endedLine = this.#openLine + at - start;
      this.#openLine = 0;
      start = at + 1;
    }
    this.#openLine += bytes.length - start;
  }

  #keep(bytes: Buffer): void {
    const forHead = bytes.subarray(0, this.#limits.headBytes - this.#headBytes);
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    const rest = bytes.subarray(forHead.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    for (;;) {
      const first = this.#tail[0];
      if (first === undefined || this.#tailBytes - first.length < this.#limits.tailBytes) return;
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
  }
}

const NEWLINE = 0x0a;

interface CutCounts {
  /** The totals; `lines` is the number of newlines. */
  readonly total: Counts;
  readonly lines: number;
  readonly lastLineBytes: number;
  readonly lossy: boolean;
}

/** Makes a capture of both ends, cut to whole characters. */
function cut(
  keptStart: Buffer,
  keptEnd: Buffer,
  { total, lines, lastLineBytes, lossy }: CutCounts,
): Capture {
  const head = keptStart.subarray(0, wholeEnd(keptStart));
  const tail = keptEnd.subarray(wholeStart(keptEnd));
  const dropped: Counts = {
    bytes: total.bytes - head.length - tail.length,
    characters: total.characters - charactersIn(head) - charactersIn(tail),
    lines: total.lines - newlinesIn(head) - newlinesIn(tail),
  };
  return {
    kind: 'cut',
    head: head.toString(),
    tail: tail.toString(),
    dropped,
    total: { ...total, lines },
    lastLineBytes,
    lossy,
  };
}

function lastOf(bytes: Buffer, count: number): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - count));
}

/** The index where the first whole character begins. */
function wholeStart(bytes: Buffer): number {
  let start = 0;
  while (isContinuation(bytes[start])) start += 1;
  return start;
}

/** The index where the last whole character ends. */
function wholeEnd(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return start + length <= bytes.length ? bytes.length : Math.max(0, start);
}

function charactersIn(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (!isContinuation(byte)) count += 1;
  return count;
}

function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
