import { type Character, characterAt, type Excerpt } from './escapes.js';
import type { Match } from './search.js';

/** Byte that fills up where a character needs fewer bytes than the one that it replaces. */
const FILLER = 'x'.charCodeAt(0);

/**
 * Writes the replacement of a match. Gaps stay as they are. If lengths are to be kept each character takes as
 * many bytes as the one that it replaces, escaped alike. Of a match that overlaps an earlier one only the
 * rest is written.
 */
export function rewritten(match: Match, excerpt: Excerpt): Buffer {
  const { pattern, start } = match;
  const { to, codes, canonical, encoding, keepsLength } = pattern;
  const raw = (from: number, end: number): Buffer =>
    excerpt.bytes.subarray(from - excerpt.offset, end - excerpt.offset);
  const first = codes.length - match.places.length / 2;
  const isPlain = match.end - match.begin === codes.length;
  if (isPlain && encoding !== 'hex') return Buffer.from(to.subarray(first));
  const characters = Array.from({ length: codes.length - first }, (_, index) => {
    const [from = 0, end = 0] = match.places.slice(2 * index, 2 * index + 2);
    return characterAt(excerpt, from, end, (code) => canonical[code] === codes[first + index]);
  });
  const isCapital = characters.some(
    ({ code, digits }) =>
      (encoding === 'hex' && isCapitalDigit(code)) ||
      digits.some((one) => isCapitalDigit(one.code)),
  );
  const put = (character: Character, code: number): Buffer => {
    const wanted = encoding === 'hex' && isCapital ? capital(code) : code;
    return Buffer.from(keepsLength ? inShapeOf(character, wanted, isCapital, raw) : [wanted]);
  };
  const parts: Buffer[] = [];
  let last = start;
  for (const [index, character] of characters.entries()) {
    const code = to[first + index];
    const isCut = character.start < start;
    if (isCut) parts.push(Buffer.alloc(character.end - start, FILLER));
    else {
      parts.push(raw(last, character.start));
      if (code !== undefined) parts.push(put(character, code));
    }
    last = character.end;
  }
  const [before, final] = [characters.at(-2), characters.at(-1)];
  const gap = before && final && before.end >= start ? raw(before.end, final.start) : raw(0, 0);
  for (const code of to.subarray(codes.length)) {
    if (final !== undefined) parts.push(gap, put(final, code));
  }
  return Buffer.concat(parts);
}

/** Writes a character in as many bytes as another one has, escaped alike. */
function inShapeOf(
  { code: old, start, end, digits, base }: Character,
  code: number,
  isCapital: boolean,
  raw: (from: number, end: number) => Buffer,
): Buffer {
  if (code === old) return raw(start, end);
  const final = digits.at(-1);
  if (final === undefined) {
    const others = Array.from(raw(start + 1, end), (byte) => byte && FILLER);
    return Buffer.from([code, ...others]);
  }
  const number = code.toString(base).padStart(digits.length, '0');
  // There is no room for a longer number: 'A' is short enough.
  const fitting = number.length > digits.length ? 'A'.charCodeAt(0).toString(base) : number;
  const text = isCapital ? fitting.toUpperCase() : fitting;
  const written = digits.flatMap((digit, index) => [
    raw(digits[index - 1]?.end ?? start, digit.start),
    inShapeOf(digit, text.charCodeAt(index), isCapital, raw),
  ]);
  return Buffer.concat([...written, raw(final.end, end)]);
}

function isCapitalDigit(code: number): boolean {
  return code >= 0x41 && code <= 0x46;
}

function capital(code: number): number {
  return code >= 0x61 && code <= 0x66 ? code - 0x20 : code;
}
