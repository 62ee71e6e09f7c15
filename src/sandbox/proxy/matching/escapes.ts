/** One character of a text, plain or escaped. */
export interface Character {
  readonly code: number;
  /** Position of its first byte in the stream. */
  readonly start: number;
  /** Position behind its last byte. */
  readonly end: number;
  /** Digits of a numeric escape, each of which may be escaped in turn; empty for other characters. */
  readonly digits: readonly Character[];
  readonly base: number;
}

/** Consecutive bytes of a stream. */
export interface Excerpt {
  readonly bytes: Buffer;
  /** Position of its first byte in the stream. */
  readonly offset: number;
  /** Whether the stream ends with it. */
  readonly isLast: boolean;
}

/** NUL: padding in UTF-16 and UTF-32. Soft line breaks of quoted-printable are read as one, too. */
const NOTHING = 0;
/** Depth of escapes within escapes that is read, as of JSON in a JSON string, or a URL in a query. */
const MOST_LAYERS = 2;
const MOST_DIGITS = 8;
/** Number of NULs between two characters in UTF-32. */
const MOST_BETWEEN = 3;
const LONGEST_NAME = 16;

const NONE: readonly Character[] = [];
const code = (char: string): number => char.charCodeAt(0);
const [PERCENT, EQUALS, BACKSLASH, AMPERSAND, PLUS] = [...'%=\\&+'].map(code);

/** Named references of HTML for characters of ASCII. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ Tab: '\t', NewLine: '\n', excl: '!', quot: '"', QUOT: '"', num: '#', dollar: '$' },
    ...{ percnt: '%', amp: '&', AMP: '&', apos: "'", lpar: '(', rpar: ')', ast: '*', midast: '*' },
    ...{ plus: '+', comma: ',', period: '.', sol: '/', colon: ':', semi: ';', lt: '<', LT: '<' },
    ...{ equals: '=', gt: '>', GT: '>', quest: '?', commat: '@', lsqb: '[', lbrack: '[' },
    ...{ bsol: '\\', rsqb: ']', rbrack: ']', Hat: '^', lowbar: '_', UnderBar: '_', grave: '`' },
    ...{ DiacriticalGrave: '`', lcub: '{', lbrace: '{', verbar: '|', vert: '|' },
    ...{ VerticalLine: '|', rcub: '}', rbrace: '}', nbsp: ' ' },
  }),
);
/** Characters with a named reference, by the first letter of the name. */
const NAMED: ReadonlyMap<number, readonly number[]> = [...NAMES].reduce(
  (all, [name, char]) => all.set(code(name), [...(all.get(code(name)) ?? []), code(char)]),
  new Map<number, number[]>(),
);
/** Names that are read without a semicolon, too. */
const OLD_NAMES: readonly string[] = ['quot', 'QUOT', 'amp', 'AMP', 'lt', 'LT', 'gt', 'GT'];
const CONTROLS: ReadonlyMap<number, number> = new Map([
  [code('n'), 10],
  [code('r'), 13],
  [code('t'), 9],
]);

/** Table of bytes: 1 for those that may begin an escape. */
export const BEGINS_ESCAPE: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) =>
  [PERCENT, EQUALS, BACKSLASH, AMPERSAND, PLUS].includes(byte) ? 1 : 0,
);

/** Tells whether a named reference with this first letter may stand for such a character. */
export function mayBeName(letter: number, isMeant: (char: number) => boolean): boolean {
  return (NAMED.get(letter) ?? []).some(isMeant);
}

/**
 * Reads the characters that the bytes at a position may stand for: the byte itself, and any escape that
 * begins there, of URLs and forms, JSON and JavaScript, HTML, Markdown and quoted-printable, also one within
 * another. Undefined: the bytes that follow decide, and have not come yet.
 */
export function charactersAt(excerpt: Excerpt, at: number): readonly Character[] | undefined {
  const reader = new EscapeReader(excerpt);
  const found = reader.read(at, MOST_LAYERS);
  return reader.isShort ? undefined : found;
}

/** Reads the character again that was found between two positions. */
export function characterAt(
  excerpt: Excerpt,
  at: number,
  end: number,
  isMeant: (code: number) => boolean,
): Character {
  const found = charactersAt(excerpt, at)?.find((one) => one.end === end && isMeant(one.code));
  return found ?? { ...plain(NOTHING, at), end };
}

class EscapeReader {
  /** Whether bytes were needed that have not come yet. */
  isShort = false;

  constructor(private readonly excerpt: Excerpt) {}

  read(at: number, layers: number): readonly Character[] {
    const { bytes, offset, isLast } = this.excerpt;
    const byte = bytes[at - offset];
    if (byte === undefined) {
      this.isShort ||= !isLast;
      return NONE;
    }
    if (layers === 0 || BEGINS_ESCAPE[byte] === 0) return [plain(byte, at)];
    const found = [...this.read(at, layers - 1)];
    for (const head of [...found]) {
      for (const one of this.#escaped(head, layers - 1)) {
        if (!found.some((other) => other.code === one.code && other.end === one.end)) {
          found.push(one);
        }
      }
    }
    return found;
  }

  #escaped(head: Character, layers: number): readonly Character[] {
    switch (head.code) {
      case PLUS:
        return [{ ...head, code: code(' '), digits: NONE }];
      case PERCENT:
        return this.#percent(head, layers);
      case EQUALS:
        return this.#quotedPrintable(head, layers);
      case BACKSLASH:
        return this.#backslash(head, layers);
      case AMPERSAND:
        return this.#entity(head, layers);
      default:
        return NONE;
    }
  }

  #percent({ start, end }: Character, layers: number): readonly Character[] {
    const u = this.#one(end, layers, (char) => char === code('u'));
    const digits = u ? this.#digits(u.end, layers, 16, 4) : this.#digits(end, layers, 16, 2);
    return numbered(start, digits, 16);
  }

  #quotedPrintable({ start, end }: Character, layers: number): readonly Character[] {
    const cr = this.#one(end, layers, (char) => char === 13);
    const lf = this.#one(cr?.end ?? end, layers, (char) => char === 10);
    if (lf !== undefined) return [{ ...plain(NOTHING, start), end: lf.end }];
    return numbered(start, this.#digits(end, layers, 16, 2), 16);
  }

  #backslash({ start, end }: Character, layers: number): readonly Character[] {
    return this.read(this.#past(end), layers).flatMap((next) => {
      const control = CONTROLS.get(next.code);
      if (control !== undefined) return [{ ...plain(control, start), end: next.end }];
      if (isPunctuation(next.code)) return [{ ...plain(next.code, start), end: next.end }];
      switch (next.code) {
        case code('u'):
          return this.#unicode(start, next.end, layers);
        case code('U'):
          return numbered(start, this.#digits(next.end, layers, 16, 8), 16);
        case code('x'):
          return numbered(start, this.#digits(next.end, layers, 16, 2), 16);
        default:
          return next.code < code('0') || next.code > code('3')
            ? NONE
            : numbered(start, this.#digits(end, layers, 8, 3), 8);
      }
    });
  }

  #unicode(start: number, at: number, layers: number): readonly Character[] {
    const open = this.#one(at, layers, (char) => char === code('{'));
    if (open === undefined) return numbered(start, this.#digits(at, layers, 16, 4), 16);
    const digits = this.#digits(open.end, layers, 16, 1, MOST_DIGITS);
    if (digits.length === 0) return NONE;
    const close = this.#one(endOf(digits), layers, (char) => char === code('}'));
    return close === undefined ? NONE : numbered(start, digits, 16, close.end);
  }

  #entity({ start, end }: Character, layers: number): readonly Character[] {
    const number = this.#one(end, layers, (char) => char === code('#'));
    if (number === undefined) return this.#named(start, end, layers);
    const x = this.#one(number.end, layers, (char) => char === code('x') || char === code('X'));
    const base = x === undefined ? 10 : 16;
    const digits = this.#digits((x ?? number).end, layers, base, 1, MOST_DIGITS);
    if (digits.length === 0) return NONE;
    const semicolon = this.#one(endOf(digits), layers, (char) => char === code(';'));
    return numbered(start, digits, base, semicolon?.end);
  }

  #named(start: number, at: number, layers: number): readonly Character[] {
    let [name, end] = ['', at];
    while (name.length < LONGEST_NAME) {
      const letter = this.#one(end, layers, isLetter);
      if (letter === undefined) break;
      name += String.fromCharCode(letter.code);
      end = letter.end;
    }
    const char = NAMES.get(name);
    if (char === undefined) return NONE;
    const semicolon = this.#one(end, layers, (next) => next === code(';'));
    if (semicolon === undefined && !OLD_NAMES.includes(name)) return NONE;
    return [{ ...plain(code(char), start), end: semicolon?.end ?? end }];
  }

  #digits(at: number, layers: number, base: number, least: number, most = least): Character[] {
    const digits: Character[] = [];
    let end = at;
    while (digits.length < most) {
      const digit = this.#one(end, layers, (char) => digitValue(char) < base);
      if (digit === undefined) break;
      digits.push(digit);
      end = digit.end;
    }
    return digits.length < least ? [] : digits;
  }

  #one(after: number, layers: number, isMeant: (char: number) => boolean): Character | undefined {
    const at = this.#past(after);
    const byte = this.excerpt.bytes[at - this.excerpt.offset];
    if (byte === undefined || (layers > 0 && BEGINS_ESCAPE[byte] === 1)) {
      return this.read(at, layers).find((character) => isMeant(character.code));
    }
    return isMeant(byte) ? plain(byte, at) : undefined;
  }

  /** Skips the NULs between the characters of UTF-16 and UTF-32. */
  #past(at: number): number {
    const { bytes, offset } = this.excerpt;
    let next = at;
    while (bytes[next - offset] === NOTHING && next < at + MOST_BETWEEN) next += 1;
    return next;
  }
}

/** Makes a character of a plain byte. */
function plain(byte: number, at: number): Character {
  return { code: byte, start: at, end: at + 1, digits: NONE, base: 0 };
}

function numbered(
  start: number,
  digits: readonly Character[],
  base: number,
  end = endOf(digits),
): readonly Character[] {
  if (digits.length === 0) return NONE;
  const number = digits.reduce((sum, digit) => sum * base + digitValue(digit.code), 0);
  return number > 0x7f ? NONE : [{ code: number, start, end, digits, base }];
}

function endOf(digits: readonly Character[]): number {
  return digits.at(-1)?.end ?? 0;
}

/** Value of a digit of any base up to 16; 99 for other characters. */
export function digitValue(char: number): number {
  if (char >= 0x30 && char <= 0x39) return char - 0x30;
  const small = char | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : 99;
}

/** Tells whether a character is a letter of ASCII. */
export function isLetter(char: number): boolean {
  const small = char | 0x20;
  return small >= 0x61 && small <= 0x7a;
}

/** Tells whether a character is punctuation of ASCII. */
export function isPunctuation(char: number): boolean {
  return char > 0x20 && char < 0x7f && digitValue(char) > 9 && !isLetter(char);
}
