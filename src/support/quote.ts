import { InputError, showValue } from './errors.js';

/** The shell syntax that a word is put into. */
export type WordPlace = 'plain' | 'backquotes' | 'backquotes in double quotes';

/** Writes text as a word of shell, or as a part of one. */
export function quoteWord(text: string, place: WordPlace): string {
  const word = /^[\w./:=@%+,-]+$/.test(text) ? text : quote(text);
  return word.replace(ESCAPED[place], '\\$&');
}

/** What loses one backslash before the command is read. */
const ESCAPED: Readonly<Record<WordPlace, RegExp>> = {
  plain: /(?!)/g,
  backquotes: /[\\`$]/g,
  'backquotes in double quotes': /[\\`$"]/g,
};

function quote(text: string): string {
  // A here-document is read by the line, before what is quoted inside it: a newline there could end
  // it, or be joined to a backslash. So none stays as it is.
  const lines = text.replaceAll("'", "'\\''").split('\n');
  return `'${lines.join("'$'\\n''")}'`;
}

/** Words that a shell takes for its own where a command begins. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'case', 'esac', 'for', 'select', 'while', 'until', 'do'],
  ...['done', 'in', 'function', 'time', 'coproc'],
]);

/**
 * Writes a word, or a program and its arguments, so that any POSIX shell reads back just that:
 * `shellQuote(['echo', "it's"])` is `echo 'it'\''s'`.
 *
 * @throws {InputError} It is no string and no array of strings, or has a NUL, which no word can.
 */
export function shellQuote(words: string | readonly string[]): string {
  const given: readonly unknown[] = Array.isArray(words) ? words : [words];
  return given.map(quotedWord).join(' ');
}

function quotedWord(word: unknown): string {
  if (typeof word !== 'string' || word.includes('\0')) {
    throw new InputError(`words: expected strings without NUL, got ${showValue(word)}`);
  }
  const isPlain = /^[\w./:@%+,-]+$/.test(word) && !KEYWORDS.has(word);
  return isPlain ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
