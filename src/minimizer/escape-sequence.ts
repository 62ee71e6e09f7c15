/** A control sequence of a terminal, as far as it matters for text. */
export type Sequence =
  /** `ESC [ … final`, with its numbers; `isPrivate` marks a private sequence, outside the standard. */
  | {
      readonly kind: 'csi';
      readonly end: number;
      readonly final: string;
      readonly numbers: readonly number[];
      readonly isPrivate: boolean;
    }
  /** Moves the cursor up a row. */
  | { readonly kind: 'up'; readonly end: number }
  | { readonly kind: 'newline'; readonly end: number }
  /** Resets the terminal. */
  | { readonly kind: 'reset'; readonly end: number }
  /** Does not change text: colours, titles, links, modes. */
  | { readonly kind: 'other'; readonly end: number };

const ESC = 0x1b;
const BEL = 0x07;
const ST = 0x9c;

/**
 * Reads the sequence at `at`, where ESC or a control of U+0080 to U+009F stands.
 *
 * Libraries that strip sequences look for them with one expression and take the text after a broken
 * sequence for a part of it. Here a broken sequence removes only characters that can be nothing else: a
 * lone ESC, or `ESC [` with its parameters. Text after it stays.
 */
export function readSequence(text: string, at: number): Sequence {
  const code = text.charCodeAt(at);
  if (code === ESC) return readEscape(text, at);
  switch (code) {
    case 0x85:
      return { kind: 'newline', end: at + 1 };
    case 0x8d:
      return { kind: 'up', end: at + 1 };
    case 0x9b:
      return readCsi(text, at + 1);
    case 0x90:
    case 0x98:
    case 0x9d:
    case 0x9e:
    case 0x9f:
      return readString(text, at, at + 1);
    default:
      return { kind: 'other', end: at + 1 };
  }
}

function readEscape(text: string, at: number): Sequence {
  const next = text.charAt(at + 1);
  const after = text.charAt(at + 2);
  switch (next) {
    case '[':
      return readCsi(text, at + 2);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return readString(text, at, at + 2);
    case '7':
    case '8':
    case '=':
    case '>':
    case '\\':
      return { kind: 'other', end: at + 2 };
    case '(':
    case ')':
      return { kind: 'other', end: /[0-2AB]/.test(after) ? at + 3 : at + 1 };
    case 'c':
    case 'M':
      // Before a small letter it is the beginning of a word, after an ESC that begins no sequence.
      if (/[a-z]/.test(after)) return { kind: 'other', end: at + 1 };
      return { kind: next === 'c' ? 'reset' : 'up', end: at + 2 };
    default:
      return { kind: 'other', end: at + 1 };
  }
}

function readCsi(text: string, start: number): Sequence {
  let at = start;
  while (isWithin(text.charCodeAt(at), 0x30, 0x3f)) at += 1;
  const parameters = text.slice(start, at);
  const intermediates = at;
  while (isWithin(text.charCodeAt(at), 0x20, 0x2f)) at += 1;
  // The sequence is broken off: after its parameters comes text.
  if (!isWithin(text.charCodeAt(at), 0x40, 0x7e)) return { kind: 'other', end: intermediates };
  return {
    kind: 'csi',
    end: at + 1,
    final: text.charAt(at),
    numbers: /^[\d;]*$/.test(parameters) ? parameters.split(';', 4).map(Number) : [],
    isPrivate: at > intermediates || /[<=>?]/.test(parameters),
  };
}

/** Reads a title, a link or a picture up to its terminator, which must be on the same line. */
function readString(text: string, at: number, start: number): Sequence {
  let end = start;
  let code = text.charCodeAt(end);
  // Any control ends the search, so that many openings on one line take no more than linear time.
  while (code >= 0x20 && !isWithin(code, 0x7f, 0x9f)) {
    end += 1;
    code = text.charCodeAt(end);
  }
  if (code === BEL || code === ST) return { kind: 'other', end: end + 1 };
  if (code === ESC && text.charAt(end + 1) === '\\') return { kind: 'other', end: end + 2 };
  return { kind: 'other', end: at + 1 };
}

function isWithin(code: number, least: number, most: number): boolean {
  return code >= least && code <= most;
}
