/** Encoding in which a text is searched for. `exact` is not mixed with the others. */
type SearchEncoding =
  /** These very bytes. */
  | 'exact'
  /** Any character may be escaped, and the text may be in UTF-16 or UTF-32. */
  | 'text'
  /** Like `text`, in either alphabet of base64, and with line breaks. */
  | 'base64'
  /** Like `text`, in upper or lower case, and with line breaks. */
  | 'hex';

/** A text, and its replacement. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
  readonly encoding: SearchEncoding;
  /** Whether the replacement takes as many bytes in the stream as the text does. */
  readonly keepsLength: boolean;
}

/** A replacement prepared for the search. */
export interface Pattern {
  readonly index: number;
  readonly to: Uint8Array;
  readonly encoding: SearchEncoding;
  readonly keepsLength: boolean;
  readonly codes: Uint8Array;
  /** By a number of characters: the length of the longest border (proper prefix and suffix) of them. */
  readonly borders: Int32Array;
  readonly canonical: Uint8Array;
  readonly gaps: Readonly<Uint8Array>;
}

/** Kinds of characters that may stand between two others of a text without being part of it. */
export const Gap = { none: 0, nothing: 1, space: 2 } as const;

/** Longest run of gap characters, which bounds what is kept back. */
export const MOST_GAPS: Readonly<Record<SearchEncoding, number>> = {
  exact: 0,
  text: 6,
  base64: 256,
  hex: 256,
};

const AS_IT_IS = table((byte) => byte);
const CANONICAL: Readonly<Record<SearchEncoding, Uint8Array>> = {
  exact: AS_IT_IS,
  text: AS_IT_IS,
  base64: table((byte) => (byte === 0x2d ? 0x2b : byte === 0x5f ? 0x2f : byte)),
  hex: table((byte) => (byte >= 0x41 && byte <= 0x46 ? byte | 0x20 : byte)),
};

const NO_GAPS = table(() => Gap.none);
const BETWEEN_BYTES = table((byte) => (byte === 0 ? Gap.nothing : Gap.none));
const BETWEEN_LINES = table((byte) =>
  byte === 0 ? Gap.nothing : [9, 10, 13, 32].includes(byte) ? Gap.space : Gap.none,
);
const GAPS: Readonly<Record<SearchEncoding, Uint8Array>> = {
  exact: NO_GAPS,
  text: BETWEEN_BYTES,
  base64: BETWEEN_LINES,
  hex: BETWEEN_LINES,
};

/** Prepares a replacement. */
export function patternOf(
  { from, to, encoding, keepsLength }: Replacement,
  index: number,
): Pattern {
  const canonical = CANONICAL[encoding];
  const codes = Uint8Array.from(Buffer.from(from), (byte) => canonical[byte] ?? byte);
  const written = { to: Buffer.from(to), encoding, keepsLength };
  return { index, ...written, codes, borders: bordersOf(codes), canonical, gaps: GAPS[encoding] };
}

/** Computes the failure function of Knuth, Morris and Pratt. */
function bordersOf(codes: Uint8Array): Int32Array {
  const borders = new Int32Array(codes.length + 1);
  let length = 0;
  for (let index = 1; index < codes.length; index += 1) {
    while (length > 0 && codes[index] !== codes[length]) length = borders[length] ?? 0;
    if (codes[index] === codes[length]) length += 1;
    borders[index + 1] = length;
  }
  return borders;
}

/** Makes a table of all bytes. */
export function table(of: (byte: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => of(byte));
}
