import { formatCount, isContinuation } from '../../support/text.js';
import type { WriteBytes } from '../standard-output.js';

const NEWLINE = 0x0a;

/** Returns the text in place of output that is left out. */
type Mark = (droppedBytes: number, headEndsLine: boolean, tailIsLine: boolean) => string;

/** Puts the mark on a line of its own, or inside the line that it interrupts. */
const markOf: Mark = (droppedBytes, headEndsLine, tailIsLine) => {
  const text = `[… ${formatCount(droppedBytes)} bytes not shown …]`;
  return `${headEndsLine ? '' : ' '}${text}${tailIsLine ? '\n' : ' '}`;
};

/**
 * Passes on the first half of a limit as it comes, and holds back the last half until the end. A mark
 * stands between them if output was left out. Both halves consist of whole lines if that costs at most
 * half of their room, otherwise of whole characters.
 */
export class BoundedOutput {
  readonly #write: WriteBytes;
  readonly #limit: number;
  readonly #mark: Mark;
  readonly #headLimit: number;
  /** Bytes of the head at most, with the rest of its last line. */
  readonly #mostHead: number;
  #headBytes = 0;
  #headEndsLine = true;
  #state: 'head' | 'completing' | 'tail' = 'head';
  /** The beginning of a character of the head, or of the rest of its last line. */
  #unfinished: Uint8Array = new Uint8Array();
  readonly #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #droppedBytes = 0;
  /** Whether the tail begins at the start of a line. */
  #tailIsLine = true;

  /**
   * Makes a writer.
   *
   * @param limit Bytes of output that are written at most, without the mark.
   */
  constructor(write: WriteBytes, limit: number, mark: Mark = markOf) {
    this.#write = write;
    this.#limit = limit;
    this.#mark = mark;
    this.#headLimit = Math.floor(limit / 2);
    this.#mostHead = this.#headLimit + Math.floor(this.#headLimit / 2);
  }

  async push(chunk: Uint8Array): Promise<void> {
    if (this.#state === 'tail') {
      this.#hold(chunk);
      return;
    }
    let rest: Uint8Array = Buffer.concat([this.#unfinished, chunk]);
    if (this.#state === 'head') rest = await this.#pushHead(rest);
    this.#unfinished = rest;
    if (this.#state === 'completing') await this.#complete();
  }

  /** Writes what was held back. Returns how many bytes were left out. */
  async finish(): Promise<number> {
    this.#hold(this.#unfinished);
    const tail = Buffer.concat(this.#tail);
    if (this.#droppedBytes === 0) {
      if (tail.length > 0) await this.#write(tail);
      return 0;
    }
    const { skip, isLine } = this.#tailIsLine ? { skip: 0, isLine: true } : tailStart(tail);
    const dropped = this.#droppedBytes + skip;
    const shown = tail.subarray(skip);
    if (this.#headBytes + shown.length > 0) {
      const mark = Buffer.from(this.#mark(dropped, this.#headEndsLine, isLine));
      await this.#write(Buffer.concat([mark, shown]));
    }
    return dropped;
  }

  /** Writes the part that belongs to the first half. Returns the rest. */
  async #pushHead(bytes: Uint8Array): Promise<Uint8Array> {
    const room = this.#headLimit - this.#headBytes;
    const end = completePrefix(bytes, Math.min(room, bytes.length));
    if (bytes.length > room) this.#state = 'completing';
    await this.#writeHead(bytes.subarray(0, end));
    return bytes.subarray(end);
  }

  /** Completes the last line of the head, if that line is not too long. */
  async #complete(): Promise<void> {
    const bytes = this.#unfinished;
    const room = this.#headEndsLine ? 0 : this.#mostHead - this.#headBytes;
    const newline = bytes.subarray(0, room).indexOf(NEWLINE);
    if (newline === -1 && bytes.length < room) return;
    this.#state = 'tail';
    this.#unfinished = new Uint8Array();
    await this.#writeHead(bytes.subarray(0, newline + 1));
    this.#hold(bytes.subarray(newline + 1));
  }

  async #writeHead(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#headBytes += bytes.length;
    this.#headEndsLine = bytes.at(-1) === NEWLINE;
    await this.#write(bytes);
  }

  #hold(bytes: Uint8Array): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    let excess = this.#tailBytes - (this.#limit - this.#headBytes);
    while (excess > 0) {
      const [first] = this.#tail;
      if (first === undefined) break;
      const cut = Math.min(excess, first.length);
      if (cut > 0) this.#tailIsLine = first[cut - 1] === NEWLINE;
      if (cut === first.length) this.#tail.shift();
      else this.#tail[0] = first.subarray(cut);
      this.#tailBytes -= cut;
      this.#droppedBytes += cut;
      excess -= cut;
    }
  }
}

/** Returns where the tail should begin: at a line, if that costs at most half of the tail. */
function tailStart(tail: Buffer): { readonly skip: number; readonly isLine: boolean } {
  const newline = tail.indexOf(NEWLINE);
  if (newline !== -1 && newline < tail.length / 2) return { skip: newline + 1, isLine: true };
  return { skip: severedPrefix(tail), isLine: false };
}

/**
 * Returns the length of `bytes` up to `end`, without the beginning of a character that ends after it.
 */
function completePrefix(bytes: Uint8Array, end: number): number {
  for (let length = 1; length <= 3 && length <= end; length += 1) {
    const byte = bytes[end - length] ?? 0;
    if (isContinuation(byte)) continue;
    return characterLength(byte) > length ? end - length : end;
  }
  return end;
}

/**
 * Returns the number of bytes at the beginning that only end a character; more than three are not UTF-8
 * anyway.
 */
function severedPrefix(bytes: Uint8Array): number {
  let length = 0;
  while (length < 3 && isContinuation(bytes[length])) length += 1;
  return length;
}

/** Returns the length of the character that a byte begins; 1 for a byte that begins none. */
function characterLength(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}
