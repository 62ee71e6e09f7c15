import { fc } from '../../support/properties.js';

/** Secrets of all kinds of characters. */
export const values = fc.stringMatching(/^[\x21-\x7e][\x20-\x7e]{6,60}[\x21-\x7e]$/);

const NAMES: Readonly<Record<string, string>> = {
  ...{ '"': '&quot;', '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&apos;', _: '&lowbar;' },
  ...{ '.': '&period;', '/': '&sol;', '+': '&plus;', '=': '&equals;', '\\': '&bsol;' },
};
const numberOf = (char: string, base: number, width = 0) =>
  char.charCodeAt(0).toString(base).padStart(width, '0');

/** The ways to write one character. */
const ESCAPES: readonly ((char: string) => string)[] = [
  (char) => char,
  (char) => `%${numberOf(char, 16, 2)}`,
  (char) => `%${numberOf(char, 16, 2).toUpperCase()}`,
  (char) => `%25${numberOf(char, 16, 2)}`,
  (char) => `%u${numberOf(char, 16, 4)}`,
  (char) => `\\u${numberOf(char, 16, 4)}`,
  (char) => `\\u${numberOf(char, 16, 4).toUpperCase()}`,
  (char) => `\\\\u${numberOf(char, 16, 4)}`,
  (char) => `%5Cu${numberOf(char, 16, 4)}`,
  (char) => `\\u{${numberOf(char, 16)}}`,
  (char) => `\\U${numberOf(char, 16, 8)}`,
  (char) => `\\x${numberOf(char, 16, 2)}`,
  (char) => `\\${numberOf(char, 8, 3)}`,
  (char) => (/[^\w\s]/.test(char) ? `\\${char}` : char),
  (char) => `&#${numberOf(char, 10)};`,
  (char) => `&#${numberOf(char, 10, 5)};`,
  (char) => `&#x${numberOf(char, 16)};`,
  (char) => `&#X${numberOf(char, 16, 4).toUpperCase()};`,
  (char) => `&amp;#${numberOf(char, 10)};`,
  (char) => NAMES[char] ?? char,
  (char) => `=${numberOf(char, 16, 2).toUpperCase()}`,
  (char) => (char === ' ' ? '+' : encodeURIComponent(char)),
];

/** A text with each of its characters as it is, or escaped in one of the ways, all alike or not. */
export const escaping = fc
  .oneof(
    fc.nat(ESCAPES.length - 1).map((one) => [one]),
    fc.array(fc.nat(ESCAPES.length - 1), { minLength: 1, maxLength: 80 }),
  )
  .map(
    (ways) => (text: string) =>
      [...text]
        .map((char, index) => ESCAPES[ways[index % ways.length] ?? 0]?.(char) ?? char)
        .join(''),
  );

const inLines = (text: string, width: number, end: string) =>
  text.replace(new RegExp(`.{${width}}`, 'gs'), (line) => line + end);

/** In base64 or hex, behind so many bytes of something else, in lines. */
const coding = fc.record({
  kind: fc.constantFrom('base64', 'base64url', 'hex', 'HEX'),
  before: fc.nat(5),
  width: fc.integer({ min: 1, max: 76 }),
  end: fc.constantFrom('', '\n', '\r\n', '\\n', '\\r\\n', '%0D%0A', '\n    '),
});
const coded = coding.map(({ kind, before, width, end }) => (text: string) => {
  const bytes = Buffer.from('~'.repeat(before) + text);
  const plain = /hex/i.test(kind) ? bytes.toString('hex') : bytes.toString(kind as 'base64');
  return inLines(kind === 'HEX' ? plain.toUpperCase() : plain, width, end);
});

/** In UTF-8, UTF-16 of either order, and UTF-32. */
const widened = fc.constantFrom(
  (text: Buffer) => text,
  (text: Buffer) => Buffer.from(text.toString('latin1'), 'utf16le'),
  (text: Buffer) => Buffer.from(text.toString('latin1'), 'utf16le').swap16(),
  (text: Buffer) => Buffer.from([...text].flatMap((byte) => [0, 0, 0, byte])),
);

/** All ways in which a server may write a value. */
export const writings = fc.tuple(fc.oneof(escaping, coded), widened).map(
  ([write, widen]) =>
    (text: string) =>
      widen(Buffer.from(write(text))),
);

/** What may stand around a value: anything, and what reminds of the beginning of an escape. */
export const surroundings = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 9 }),
      fc.constantFrom(
        '%',
        '%2',
        '%25',
        '\\',
        '\\\\',
        '\\u',
        '\\u00',
        '&',
        '&#',
        '&#x',
        '&amp;',
        '=',
      ),
      fc.constantFrom('\0', '\n', '\r\n    ', '+', '<p>', '{"a":"'),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.from(parts.join('')));

/** Into pieces that end at these places, some of which may be empty. */
export const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (one, other) => one - other,
  );
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};

const fromCode = (_: string, digits: string, base: number) =>
  String.fromCharCode(Number.parseInt(digits, base));
const named = Object.entries(NAMES).map(([char, name]) => [name, char] as const);

/** What programs make of a text that is escaped in some of these ways. */
const DECODERS: readonly ((text: string) => string)[] = [
  (text) =>
    text.replace(/%u?(?<=u)([\da-f]{4})|%([\da-f]{2})/gi, (all, one, two) =>
      fromCode(all, one ?? two, 16),
    ),
  (text) =>
    text.replace(
      /\\(?:u\{([\da-fA-F]+)\}|u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|([0-3][0-7]{2})|([^\w\s]))/g,
      (all, a, b, c, d, octal, char) =>
        char ?? (octal ? fromCode(all, octal, 8) : fromCode(all, a ?? b ?? c ?? d, 16)),
    ),
  (text) =>
    text
      .replace(/&#x([\da-f]+);/gi, (all, digits) => fromCode(all, digits, 16))
      .replace(/&#(\d+);/g, (all, digits) => fromCode(all, digits, 10)),
  (text) => named.reduce((changed, [name, char]) => changed.replaceAll(name, char), text),
  (text) => text.replace(/=([\da-f]{2})/gi, (all, digits) => fromCode(all, digits, 16)),
  (text) => text.replaceAll('+', ' '),
];

/** What may be read in some bytes: themselves, decoded, and from base64 and hex. */
export function readings(bytes: Buffer): readonly string[] {
  const text = bytes.toString('latin1').replaceAll('\0', '');
  const texts = new Set([text]);
  for (let round = 0; round < 3; round += 1) {
    for (const one of [...texts]) for (const decode of DECODERS) texts.add(decode(one));
    const all = DECODERS.reduce((changed, decode) => decode(changed), text);
    texts.add(all);
  }
  const packed = text
    .replace(/\\[rn]|%0[AD]|\s/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const runs = packed.match(/[A-Za-z\d+/]{8,}/g) ?? [];
  const unpacked = runs.flatMap((run) => [
    ...[0, 1, 2, 3].map((at) => Buffer.from(run.slice(at), 'base64').toString('latin1')),
    ...(run.match(/[\da-f]{2,}/gi) ?? []).flatMap((digits) =>
      [0, 1].map((at) => Buffer.from(digits.slice(at), 'hex').toString('latin1')),
    ),
  ]);
  return [...texts, ...unpacked];
}
