import { formatCount } from '../text.js';

/** The most that a text may have. A limit that is absent does not apply. */
export interface TextLimits {
  /** UTF-16 units, as `length` counts them. */
  readonly characters?: number;
  /** Bytes as UTF-8. */
  readonly bytes?: number;
  /** Lines; a final newline begins one more. */
  readonly lines?: number;
}

/** A text within its limits. */
interface BoundText {
  readonly text: string;
  /** Characters (Unicode code points) that are left out; 0: the text is whole. */
  readonly omitted: number;
}

/** Amounts of a text; or room for such amounts, where Infinity is no limit. */
interface Size {
  readonly units: number;
  readonly bytes: number;
  readonly newlines: number;
}

/** The share of the room that the beginning gets: errors, notices and exit codes stand at the end. */
const HEAD_SHARE = 1 / 4;

/**
 * Returns a text within limits: all of it, or its beginning and its end, cut between characters and at the
 * ends of lines where that wastes little, with a line between them that counts what is left out. Where not
 * even that line fits, the text is its beginning.
 *
 * @param explain Returns what the line says after the count. Called with counts of different lengths.
 */
export function boundText(
  text: string,
  limits: TextLimits,
  explain: (omitted: number) => string = () => '',
): BoundText {
  const room = roomOf(limits);
  if (fits(text, room)) return { text, omitted: 0 };
  const total = countCharacters(text);
  const noteFor = (omitted: number): string =>
    `[${formatCount(omitted)} characters left out here${explain(omitted)}]`;
  // No count is longer than that of the whole text. A newline stands on either side.
  const left = subtract(room, sizeOf(`\n${noteFor(total)}\n`));
  if (left === undefined) {
    const note = beginning(noteFor(total), room);
    return { text: note, omitted: total };
  }
  const head = wholeLines(beginning(text, share(left, HEAD_SHARE)));
  const rest = subtract(left, sizeOf(head)) ?? left;
  const tail = fromWholeLine(ending(text.slice(head.length), rest));
  const before = head === '' || head.endsWith('\n') ? head : `${head}\n`;
  // The newline before the line may be the text's own.
  const shown = text.startsWith(before) ? before.length : head.length;
  const omitted = countCharacters(text.slice(shown, text.length - tail.length));
  return { text: `${before}${noteFor(omitted)}\n${tail}`, omitted };
}

function roomOf({ characters = Infinity, bytes = Infinity, lines = Infinity }: TextLimits): Size {
  return { units: characters, bytes, newlines: lines - 1 };
}

function fits(text: string, room: Size): boolean {
  if (text.length > room.units) return false;
  // No UTF-16 unit takes more than three bytes, and none is more than one newline.
  if (text.length * 3 <= room.bytes && text.length <= room.newlines) return true;
  return subtract(room, sizeOf(text)) !== undefined;
}

function sizeOf(text: string): Size {
  const newlines = text.split('\n').length - 1;
  return { units: text.length, bytes: Buffer.byteLength(text), newlines };
}

/** Returns what is left of a room; undefined: the size does not fit. */
function subtract(room: Size, size: Size): Size | undefined {
  const left = {
    units: room.units - size.units,
    bytes: room.bytes - size.bytes,
    newlines: room.newlines - size.newlines,
  };
  return Math.min(left.units, left.bytes, left.newlines) < 0 ? undefined : left;
}

function share({ units, bytes, newlines }: Size, part: number): Size {
  return { units: units * part, bytes: bytes * part, newlines: newlines * part };
}

/** Returns the longest beginning that fits, ending at a character. */
function beginning(text: string, room: Size): string {
  let end = 0;
  let left: Size | undefined = room;
  for (;;) {
    const code = text.codePointAt(end);
    if (code === undefined) return text;
    left = subtract(left, sizeOfCharacter(code));
    if (left === undefined) return text.slice(0, end);
    end += unitsOf(code);
  }
}

/** Returns the longest end that fits, beginning at a character. */
function ending(text: string, room: Size): string {
  let start = text.length;
  let left: Size | undefined = room;
  while (start > 0) {
    const before = text.codePointAt(start - 2) ?? 0;
    const code = unitsOf(before) === 2 ? before : text.charCodeAt(start - 1);
    left = subtract(left, sizeOfCharacter(code));
    if (left === undefined) break;
    start -= unitsOf(code);
  }
  return text.slice(start);
}

function unitsOf(code: number): number {
  return code > 0xffff ? 2 : 1;
}

function sizeOfCharacter(code: number): Size {
  const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  return { units: unitsOf(code), bytes, newlines: code === 0x0a ? 1 : 0 };
}

/** Returns a beginning without its last line, if that is not whole and shorter than the others. */
function wholeLines(head: string): string {
  const end = head.lastIndexOf('\n') + 1;
  return end * 2 > head.length ? head.slice(0, end) : head;
}

/** Returns an end without its first line, likewise. */
function fromWholeLine(tail: string): string {
  const start = tail.indexOf('\n') + 1;
  return start > 0 && start * 2 < tail.length ? tail.slice(start) : tail;
}

/** Counts Unicode code points. */
function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += unitsOf(text.codePointAt(at) ?? 0)) count += 1;
  return count;
}
