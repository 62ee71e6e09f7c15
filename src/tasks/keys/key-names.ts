import { InputError, showValue } from '../../support/errors.js';
import { nearestName } from '../../support/names.js';

/** The sequences of a key: alone, and with modifiers, whose number stands for `N`. */
interface KeySequence {
  readonly alone: string;
  readonly modified?: string;
  /** In place of `alone` while the program wants cursor keys in application mode. */
  readonly application?: string;
}

const cursor = (letter: string): KeySequence => ({
  alone: `\x1b[${letter}`,
  modified: `\x1b[1;N${letter}`,
  application: `\x1bO${letter}`,
});
const numbered = (number: number): KeySequence => ({
  alone: `\x1b[${number}~`,
  modified: `\x1b[${number};N~`,
});
const upperFunction = (letter: string): KeySequence => ({
  alone: `\x1bO${letter}`,
  modified: `\x1b[1;N${letter}`,
});

/** The keys with names, as xterm sends them. */
const KEYS: Readonly<Record<string, KeySequence>> = {
  enter: { alone: '\r' },
  tab: { alone: '\t' },
  escape: { alone: '\x1b' },
  space: { alone: ' ' },
  backspace: { alone: '\x7f' },
  up: cursor('A'),
  down: cursor('B'),
  right: cursor('C'),
  left: cursor('D'),
  home: cursor('H'),
  end: cursor('F'),
  insert: numbered(2),
  delete: numbered(3),
  'page-up': numbered(5),
  'page-down': numbered(6),
  f1: upperFunction('P'),
  f2: upperFunction('Q'),
  f3: upperFunction('R'),
  f4: upperFunction('S'),
  ...Object.fromEntries(
    [15, 17, 18, 19, 20, 21, 23, 24].map((number, index) => [`f${index + 5}`, numbered(number)]),
  ),
};

/** Further spellings, without blanks and hyphens. */
const ALIASES: Readonly<Record<string, string>> = {
  return: 'enter',
  esc: 'escape',
  spacebar: 'space',
  bs: 'backspace',
  del: 'delete',
  ins: 'insert',
  pageup: 'page-up',
  pgup: 'page-up',
  pagedown: 'page-down',
  pgdn: 'page-down',
  pgdown: 'page-down',
  arrowup: 'up',
  arrowdown: 'down',
  arrowleft: 'left',
  arrowright: 'right',
};

const MODIFIERS: Readonly<Record<string, Modifier>> = {
  ctrl: 'ctrl',
  control: 'ctrl',
  c: 'ctrl',
  alt: 'alt',
  meta: 'alt',
  option: 'alt',
  m: 'alt',
  shift: 'shift',
  s: 'shift',
};

type Modifier = 'ctrl' | 'alt' | 'shift';

/** Names of keys, for error messages. */
const KEY_NAMES: readonly string[] = Object.keys(KEYS);

/** Characters that a terminal makes another control character of than their code says. */
const CONTROLS: Readonly<Record<string, string>> = {
  ' ': '\0',
  '?': '\x7f',
  '/': '\x1f',
  '-': '\x1f',
  '6': '\x1e',
};

/** A key with its modifiers. */
interface Pressed {
  readonly key: string;
  readonly held: ReadonlySet<Modifier>;
}

/**
 * Returns what a terminal sends for a key: `enter`, `ctrl-d`, `up`, `f1`, `alt-x`, or one character.
 *
 * @param name Modifiers come first, each with a hyphen or a plus; names in any case.
 * @param field The name of the field, for the error.
 * @param isApplicationMode Whether the program wants cursor keys as `\x1bOA` and not as `\x1b[A`.
 * @throws {InputError} There is no such key, or no terminal sends it with these modifiers.
 */
export function keyBytes(name: string, field: string, isApplicationMode: boolean): string {
  const pressed = parseKey(name);
  if (pressed === undefined) throw unknownKey(name, field);
  const { key, held } = pressed;
  const sequence = KEYS[key];
  const sent =
    sequence === undefined ? character(key, held) : named(key, sequence, held, isApplicationMode);
  if (sent !== undefined) return sent;
  const expected = 'a key that a terminal can send with these modifiers';
  throw new InputError(`${field}: expected ${expected}, got ${showValue(name)}`);
}

/** Splits a name into modifiers and key; undefined: there is no such key. */
function parseKey(name: string): Pressed | undefined {
  const held = new Set<Modifier>();
  let rest = name;
  if (/^\^[^\s]$/.test(rest)) return { key: rest.slice(1).toLowerCase(), held: held.add('ctrl') };
  for (;;) {
    const key = keyOf(rest);
    if (key !== undefined) return { key, held };
    const [prefix, word = ''] = /^([A-Za-z]+)[-+]/.exec(rest) ?? [];
    const modifier = MODIFIERS[word.toLowerCase()];
    if (prefix === undefined || modifier === undefined) return undefined;
    held.add(modifier);
    rest = rest.slice(prefix.length);
  }
}

function keyOf(text: string): string | undefined {
  // One character, which may be more than one code unit.
  if ([...text].length === 1 && !/[\p{Cc}\p{Cs}]/u.test(text)) return text === ' ' ? 'space' : text;
  const plain = text.toLowerCase().replace(/[-_ ]/g, '');
  const alias = ALIASES[plain] ?? plain;
  return Object.hasOwn(KEYS, alias) ? alias : undefined;
}

function named(
  key: string,
  { alone, modified, application }: KeySequence,
  held: ReadonlySet<Modifier>,
  isApplicationMode: boolean,
): string | undefined {
  if (held.size === 0) return (isApplicationMode ? application : undefined) ?? alone;
  if (modified !== undefined) {
    const number =
      1 + (held.has('shift') ? 1 : 0) + (held.has('alt') ? 2 : 0) + (held.has('ctrl') ? 4 : 0);
    return modified.replace('N', `${number}`);
  }
  const meta = held.has('alt') ? '\x1b' : '';
  const rest = [...held].filter((modifier) => modifier !== 'alt').join();
  if (rest === '') return meta + alone;
  if (key === 'tab' && rest === 'shift') return `${meta}\x1b[Z`;
  if (key === 'space' && rest === 'ctrl') return `${meta}\0`;
  if (key === 'space' && rest === 'shift') return meta + alone;
  if (key === 'backspace' && rest === 'ctrl') return `${meta}\b`;
  return undefined;
}

function character(key: string, held: ReadonlySet<Modifier>): string | undefined {
  const meta = held.has('alt') ? '\x1b' : '';
  const shown = held.has('shift') ? key.toUpperCase() : key;
  if (!held.has('ctrl')) return meta + shown;
  const control = CONTROLS[key];
  if (control !== undefined) return meta + control;
  const code = key.toUpperCase().charCodeAt(0);
  // `@` to `_`: the letters, and what stands around them.
  return key.length === 1 && code >= 0x40 && code <= 0x5f
    ? meta + String.fromCharCode(code & 0x1f)
    : undefined;
}

function unknownKey(name: string, field: string): InputError {
  const near = nearestKey(name);
  const meant = near === undefined ? '' : ` (did you mean ${showValue(near)}?)`;
  return new InputError(
    `${field}: expected one character or a key such as enter, tab, escape, up, page-down, f1, ctrl-d ` +
      `or alt-x, got ${showValue(name)}${meant}; longer text goes into \`text\``,
  );
}

/** Returns the key that was probably meant, with its modifiers; undefined: none is similar. */
function nearestKey(name: string): string | undefined {
  const [, modifier, rest = ''] = /^([A-Za-z]+)[-+ ](.+)$/.exec(name) ?? [];
  const held = modifier && nearestName(modifier, Object.keys(MODIFIERS).filter(isWord));
  if (held !== undefined && held !== '') {
    const key = keyOf(rest) ?? nearestKey(rest);
    if (key !== undefined) return `${MODIFIERS[held]}-${key}`;
  }
  const near = nearestName(name, [...KEY_NAMES, ...Object.keys(ALIASES)]);
  return near === undefined ? undefined : (ALIASES[near] ?? near);
}

const isWord = (name: string): boolean => name.length > 1;
