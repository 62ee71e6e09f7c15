import { readSequence, type Sequence } from '../../minimizer/escape-sequence.js';
import { lastWhole } from '../output.js';

/** A line as a person reads it, or one drawing of a line that is drawn again and again. */
export interface DrawnLine {
  /** The text so far, without escape sequences. Of a line without end the last part, after an ellipsis. */
  readonly text: string;
  /** Where it begins, in bytes from the start of the output. */
  readonly from: number;
  /** Where the text so far ends, with the newline if there is one. */
  readonly cursor: number;
}

/** Characters that are kept of a line without end. Up to twice as many are shown. */
const KEPT = 16 * 1024;
/** Characters that are added between two looks at the length of a line. */
const STEP = 4 * 1024;
/** The longest title, link or picture; what is longer is taken for text. */
const LONGEST_SEQUENCE = 4096;
/** The most columns that a sequence moves. */
const MOST_COLUMNS = 200;

const LINE_FEED = 0x0a;
const RETURN = 0x0d;
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls, and beginnings of sequences, are what is looked for
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;
/** A sequence that may go on in the output that has not come yet. */
const UNFINISHED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with them
  /^(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*\x1b?|\x1b[()cM]?)$/;

/**
 * Divides output into frames as it comes: at newlines, at `\r`, and where a sequence moves the cursor to
 * another place. Takes linear time and bounded memory, and it does not matter how the output is divided.
 */
export class DrawnLineReader {
  readonly #see: (frame: DrawnLine) => void;
  /** The first bytes of a character that has not come whole. */
  #carried: Uint8Array = new Uint8Array();
  /** The beginning of a sequence whose end has not come. */
  #pending = '';
  /** The text of the frame, and what was added last: a spinner at the end of a long line stays cheap. */
  #text = '';
  #tail = '';
  #isCut = false;
  #from: number;
  /** The position behind the last character that was taken. */
  #at: number;
  /** The position of the next byte. */
  #end: number;
  /** Whether the frame has text that was not shown to `see`. */
  #isNews = false;
  /** Whether the last byte was a `\r`, which may belong to a newline. */
  #hasReturned = false;

  /**
   * @param at Position of the first byte.
   * @param see Called with each frame when it ends, and with more of it at the end of a push.
   */
  constructor(at: number, see: (frame: DrawnLine) => void) {
    this.#from = at;
    this.#at = at;
    this.#end = at;
    this.#see = see;
  }

  /** Takes the next output. */
  push(bytes: Uint8Array): void {
    const begin = this.#end;
    for (let start = 0; start < bytes.length; ) {
      const end = nextBreak(bytes, start);
      if (this.#hasReturned && (end > start || bytes[end] !== LINE_FEED)) this.#break();
      this.#hasReturned = false;
      this.#decode(bytes.subarray(start, end));
      this.#end = begin + end;
      if (end === bytes.length) break;
      this.#flush();
      this.#end += 1;
      // Bytes that are no text have other lengths as text: each line begins with an exact position.
      this.#at = this.#end;
      if (bytes[end] === RETURN) this.#hasReturned = true;
      else this.#break();
      start = end + 1;
    }
    this.#show();
  }

  /** Goes on at another position: the output before it is missing. */
  skipTo(at: number): void {
    this.#carried = new Uint8Array();
    this.#pending = '';
    this.#hasReturned = false;
    this.#at = at;
    this.#end = at;
    this.#begin();
  }

  #decode(bytes: Uint8Array): void {
    const all = this.#carried.length === 0 ? bytes : Buffer.concat([this.#carried, bytes]);
    const whole = lastWhole(all);
    this.#carried = Uint8Array.from(all.subarray(whole));
    if (whole > 0) this.#take(toText(all.subarray(0, whole)));
  }

  /** Takes what is left of a line at its end: nothing follows that would complete it. */
  #flush(): void {
    if (this.#carried.length > 0) this.#take(toText(this.#carried));
    this.#carried = new Uint8Array();
    const rest = this.#pending;
    this.#pending = '';
    this.#takeAll(rest);
  }

  #take(text: string): void {
    const all = this.#pending + text;
    this.#pending = '';
    this.#takeAll(all, (rest) => {
      if (rest.length > LONGEST_SEQUENCE || !UNFINISHED.test(rest)) return false;
      this.#pending = rest;
      return true;
    });
  }

  /** @param waits Returns whether the rest of the text, which begins with a control, is to wait. */
  #takeAll(text: string, waits: (rest: string) => boolean = () => false): void {
    for (let at = 0; at < text.length; ) {
      CONTROL.lastIndex = at;
      const next = CONTROL.exec(text)?.index ?? text.length;
      this.#write(text.slice(at, next));
      if (next === text.length || waits(text.slice(next, next + LONGEST_SEQUENCE + 1))) return;
      at = this.#control(text, next);
    }
  }

  /** Writes text, and shows a long line before its beginning is forgotten. */
  #write(text: string): void {
    for (let at = 0; at < text.length; at += STEP) {
      const part = text.slice(at, at + STEP);
      this.#at += Buffer.byteLength(part);
      this.#add(part);
    }
  }

  #add(part: string): void {
    this.#tail += part;
    this.#isNews = true;
    if (this.#text.length + this.#tail.length < 2 * KEPT) return;
    this.#show();
    this.#text = this.#text.slice(-KEPT);
    this.#isCut = true;
  }

  /** Acts on the control at `at`; returns where the text goes on. */
  #control(text: string, at: number): number {
    const code = text.charCodeAt(at);
    const isSequence = code === 0x1b || code >= 0x80;
    const sequence: Sequence = isSequence ? readSequence(text, at) : { kind: 'other', end: at + 1 };
    const isTooLong = sequence.end - at > LONGEST_SEQUENCE;
    const end = isTooLong ? at + 1 : sequence.end;
    this.#at += Buffer.byteLength(text.slice(at, end));
    if (isTooLong) return end;
    if (code === 0x08) this.#back(1);
    else if (code === 0x0b || code === 0x0c || leavesRow(sequence)) this.#break();
    else if (sequence.kind === 'csi' && !sequence.isPrivate) this.#move(sequence);
    return end;
  }

  #move({ final, numbers: [first = 0] }: Sequence & { readonly kind: 'csi' }): void {
    const columns = Math.min(first || 1, MOST_COLUMNS);
    if (final === 'D') this.#back(columns);
    // Programs that draw write blanks so.
    if (final === 'C') this.#add(' '.repeat(columns));
  }

  #back(columns: number): void {
    if (columns > this.#tail.length) this.#join();
    if (this.#tail !== '') this.#tail = this.#tail.slice(0, -columns);
    else this.#text = this.#text.slice(0, Math.max(0, this.#text.length - columns));
  }

  #join(): void {
    this.#text += this.#tail;
    this.#tail = '';
  }

  #break(): void {
    this.#show();
    this.#begin();
  }

  #begin(): void {
    this.#text = '';
    this.#tail = '';
    this.#isCut = false;
    this.#from = this.#at;
    this.#isNews = false;
  }

  #show(): void {
    if (!this.#isNews) return;
    this.#isNews = false;
    this.#join();
    const text = this.#isCut ? `…${this.#text}` : this.#text;
    this.#see({ text, from: this.#from, cursor: this.#at });
  }
}

/** Final letters of sequences that move to another place, or erase what was there. */
const MOVES = new Set(['A', 'B', 'E', 'F', 'G', 'H', 'd', 'f']);

/** Returns whether what follows is not read as a part of the same line. */
function leavesRow(sequence: Sequence): boolean {
  switch (sequence.kind) {
    case 'up':
    case 'newline':
    case 'reset':
      return true;
    case 'csi': {
      if (sequence.isPrivate) return false;
      const { final, numbers } = sequence;
      // Programs erase the rest of a line without moving.
      return MOVES.has(final) || ((final === 'J' || final === 'K') && (numbers[0] ?? 0) > 0);
    }
    default:
      return false;
  }
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

/** Returns the position of the next newline or `\r`; the length when there is none. */
function nextBreak(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === LINE_FEED || byte === RETURN) return at;
  }
  return bytes.length;
}
