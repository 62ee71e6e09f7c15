import { BEGINS_ESCAPE, digitValue, isLetter, isPunctuation, mayBeName } from './escapes.js';
import type { Pattern } from './pattern.js';

/** Number of pairs of consecutive characters that are compared. */
const PAIRS = 3;

/** Longest run of backslashes that stands for a single one at the depth of escapes that is read. */
const LONGEST_RUN = 4;

const code = (char: string): number => char.charCodeAt(0);
const [PERCENT, EQUALS, BACKSLASH, PLUS] = [...'%=\\+'].map(code);
const [SMALL_U, LARGE_U, SMALL_X, ZERO, HASH, OPEN] = [...'uUx0#{'].map(code);

/**
 * Fast filter in front of the search: rules out nearly all positions by a look at a few bytes. It has false
 * positives, and no false negatives.
 */
export class Sieve {
  readonly #hasEscapes: boolean;
  /** By a character: 1 if a pattern begins with it. */
  readonly #isFirst = new Uint8Array(256);
  /** By two characters: a bit for each of the first places of a pattern where they follow one another. */
  readonly #pairs = new Uint8Array(0x10000);
  readonly #isGap = new Uint8Array(256);
  /** Whether a gap character is among the first characters of a pattern. */
  #hasGaps = false;

  constructor(patterns: readonly Pattern[], hasEscapes: boolean) {
    this.#hasEscapes = hasEscapes;
    for (const { codes, canonical, gaps } of patterns) {
      const beginning = codes.subarray(0, PAIRS + 1);
      const variants = [...beginning].map((char) => {
        const all = [...canonical.keys()].filter((byte) => canonical[byte] === char);
        return all;
      });
      for (const byte of variants[0] ?? []) this.#isFirst[byte] = 1;
      for (let place = 0; place < PAIRS; place += 1) {
        for (const one of variants[place] ?? []) {
          for (const other of variants[place + 1] ?? []) {
            const pair = (one << 8) | other;
            this.#pairs[pair] = (this.#pairs[pair] ?? 0) | (1 << place);
          }
        }
      }
      for (const [byte, gap] of gaps.entries()) if (gap > 0) this.#isGap[byte] = 1;
    }
    for (const { codes } of patterns) {
      this.#hasGaps ||= codes.subarray(0, PAIRS + 1).some((byte) => this.#isGap[byte] === 1);
    }
  }

  /** Tells whether a pattern may begin at an index. True also where the bytes end, or are UTF-16. */
  mayBegin(bytes: Buffer, at: number): boolean {
    const first = bytes[at] ?? 0;
    if (this.#hasEscapes && BEGINS_ESCAPE[first] === 1 && this.#mayBeEscaped(bytes, at, first)) {
      return true;
    }
    if (this.#isFirst[first] === 0) return false;
    let last = first;
    let next = at + 1;
    for (let place = 0; place < PAIRS; place += 1) {
      while (this.#isGap[bytes[next] ?? 1] === 1) {
        if (this.#hasGaps) return true;
        next += 1;
      }
      const byte = bytes[next];
      if (byte === undefined) return true;
      if (this.#hasEscapes && BEGINS_ESCAPE[byte] === 1 && mayBeEscape(bytes, next)) return true;
      const pair = (last << 8) | byte;
      if (((this.#pairs[pair] ?? 0) & (1 << place)) === 0) return false;
      last = byte;
      next += 1;
    }
    return true;
  }

  /** Tells whether an escape at an index may stand for the first character of a pattern. */
  #mayBeEscaped(bytes: Buffer, at: number, mark: number): boolean {
    if (mark === PLUS) return false;
    if (mark === BACKSLASH) return this.#mayBeSlashed(bytes, at);
    const next = bytes[at + 1];
    if (!next) return true;
    if (BEGINS_ESCAPE[next] === 1) return mayBeInner(bytes, at + 1);
    if (mark === PERCENT || mark === EQUALS) {
      return (mark === PERCENT && next === SMALL_U) || this.#mayBeNumber(bytes, at + 1);
    }
    return next === HASH || mayBeName(next, (char) => this.#isMeant(char));
  }

  #mayBeSlashed(bytes: Buffer, at: number): boolean {
    let end = at + 1;
    while (bytes[end] === BACKSLASH && end < at + LONGEST_RUN) end += 1;
    const next = bytes[end];
    if (!next || (end > at + 1 && this.#isMeantPlain(BACKSLASH))) return true;
    if (end === at + LONGEST_RUN) return false;
    if (next === SMALL_U) {
      const [one, two] = [bytes[end + 1], bytes[end + 2]];
      if (!one || !two || one === OPEN) return true;
      if (BEGINS_ESCAPE[one] === 1 || BEGINS_ESCAPE[two] === 1) return true;
      return one === ZERO && two === ZERO && this.#mayBeNumber(bytes, end + 3);
    }
    if (BEGINS_ESCAPE[next] === 1 || next === LARGE_U || next === SMALL_X) return true;
    return digitValue(next) < 4 || this.#isMeantPlain(next);
  }

  /** Looks at two hexadecimal digits, which may be escaped themselves. */
  #mayBeNumber(bytes: Buffer, at: number): boolean {
    const [one, two] = [bytes[at], bytes[at + 1]];
    if (!one) return true;
    if (BEGINS_ESCAPE[one] === 1) return mayBeInner(bytes, at);
    if (digitValue(one) > 15) return false;
    if (!two) return true;
    if (BEGINS_ESCAPE[two] === 1) return mayBeInner(bytes, at + 1);
    return digitValue(two) < 16 && this.#isMeant(16 * digitValue(one) + digitValue(two));
  }

  /** Tells whether a character begins a pattern, or an escape. */
  #isMeant(char: number): boolean {
    return this.#isFirst[char] === 1 || (BEGINS_ESCAPE[char] === 1 && char !== PLUS);
  }

  #isMeantPlain(char: number | undefined): boolean {
    return this.#isFirst[char ?? 0] === 1;
  }
}

/** Tells whether an escape may begin at an index, by the bytes next to it. */
export function mayBeEscape(bytes: Buffer, at: number): boolean {
  const [mark, next] = [bytes[at], bytes[at + 1]];
  if (!next || mark === PLUS) return true;
  const isEscape = mark !== BACKSLASH && BEGINS_ESCAPE[next] === 1;
  return isEscape ? mayBeInner(bytes, at + 1) : mayBeInner(bytes, at);
}

/** Tells the same of an escape within another one. */
function mayBeInner(bytes: Buffer, at: number): boolean {
  const [mark, next] = [bytes[at], bytes[at + 1]];
  if (!next) return true;
  const isHex = digitValue(next) < 16;
  if (mark === PERCENT) return isHex || next === SMALL_U;
  if (mark === EQUALS) return isHex || next === 10 || next === 13;
  if (mark === BACKSLASH) return digitValue(next) < 4 || isPunctuation(next) || isLetter(next);
  return mark !== PLUS && (next === HASH || isLetter(next));
}
