import { InputError, showValue } from './errors.js';

/** The shell syntax around a word. */
export type WordPlace = 'plain' | 'backquotes' | 'backquotes in double quotes';

/** Quotes text as a word of shell, or as a part of one. */
export function quoteWord(text: string, place: WordPlace): string {
  const word = /^[\w./:=@%+,-]+$/.test(text) ? text : quote(text);
  return word.replace(ESCAPED[place], '\\$&');
}

/** Characters that lose one backslash before the command is read. */
const ESCAPED: Readonly<Record<WordPlace, RegExp>> = {
  plain: /(?!)/g,
  backquotes: /[\\`$]/g,
  'backquotes in double quotes': /[\\`$"]/g,
};

function quote(text: string): string {
  // A here-document is read by lines before quotes inside it are: a newline there could end it, or join a
  // backslash. So no newline stays as it is.
  const lines = text.replaceAll("'", "'\\''").split('\n');
  return `'${lines.join("'$'\\n''")}'`;
}

/** Reserved words of the shell at the beginning of a command. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'case', 'esac', 'for', 'select', 'while', 'until', 'do'],
  ...['done', 'in', 'function', 'time', 'coproc'],
]);

/**
 * Quotes a word, or a program and its arguments, so that any POSIX shell reads back exactly that:
 * `shellQuote(['echo', "it's"])` is `echo 'it'\''s'`.
 *
 * @throws {InputError} `words` is neither a string nor an array of strings, or has a NUL, which no word
 * can have.
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
