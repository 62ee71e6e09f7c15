import { isAscii, isUtf8 } from 'node:buffer';

// 'Character' means a Unicode code point of the decoded text, where each maximal invalid sequence decodes
// to one U+FFFD: the rule of the WHATWG decoder, which Node uses too.

/** Decodes bytes: invalid sequences become U+FFFD, and NUL becomes its symbol. */
export function decodeText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes('\0') ? text.replaceAll('\0', '␀') : text;
}

/**
 * Returns the length of the prefix that does not end inside a character. Only a sequence that could still
 * become valid is left out: at most 3 bytes.
 */
export function completePrefix(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let start = length - 1; start >= 0 && start >= length - 3; start -= 1) {
    if (!isContinuation(bytes[start])) return isUnfinished(bytes, start) ? start : length;
  }
  return length;
}

/** Counts the bytes at the start that belong to a character cut before them: at most 3. */
export function severedPrefix(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count])) count += 1;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** The ranges of second bytes other than 80 to BF, by the first byte: from the Unicode standard's table. */
const SECOND_BYTES: Readonly<Record<number, readonly [least: number, most: number]>> = {
  224: [0xa0, 0xbf],
  237: [0x80, 0x9f],
  240: [0x90, 0xbf],
  244: [0x80, 0x8f],
};

/** Returns whether the sequence at `start` reaches the end, and further bytes could make it a character. */
function isUnfinished(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start] ?? 0;
  if (first < 0xc2 || first > 0xf4) return false;
  const needed = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const there = bytes.length - start;
  if (there >= needed) return false;
  if (there === 1) return true;
  const [least, most] = SECOND_BYTES[first] ?? [0x80, 0xbf];
  const second = bytes[start + 1] ?? 0;
  return second >= least && second <= most;
}

/** Counts the characters of a stream that arrives in arbitrary pieces. */
export class CharacterCount {
  #characters = 0;
  #isInvalid = false;
  /** The start of an incomplete character; at most 3 bytes. */
  #pending = Buffer.alloc(0);

  push(chunk: Buffer): void {
    const isPlain = this.#pending.length === 0 && isAscii(chunk);
    if (isPlain) this.#characters += chunk.length;
    else this.#count(this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]));
  }

  /** Returns the count so far, with an unfinished character as one; and whether any sequence was invalid. */
  total(): { readonly characters: number; readonly isInvalid: boolean } {
    const isUnfinished = this.#pending.length > 0;
    return {
      characters: this.#characters + Number(isUnfinished),
      isInvalid: this.#isInvalid || isUnfinished,
    };
  }

  #count(bytes: Buffer): void {
    const whole = bytes.subarray(0, completePrefix(bytes));
    this.#pending = Buffer.from(bytes.subarray(whole.length));
    if (isUtf8(whole)) {
      this.#characters += countFirstBytes(whole);
    } else {
      this.#isInvalid = true;
      this.#characters += countCodePoints(whole.toString('utf8'));
    }
  }
}

function countFirstBytes(bytes: Buffer): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    if (((bytes[index] ?? 0) & 0b1100_0000) !== 0b1000_0000) count += 1;
  }
  return count;
}

/** Counts the code points of decoded text, in which every low surrogate belongs to a pair. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xdc00 && unit <= 0xdfff) count -= 1;
  }
  return count;
}
