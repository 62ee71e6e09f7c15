import { join } from 'node:path';

/** The parts of a command that begins with `cd <path> &&`. */
interface LeadingCd {
  /** The directory, unquoted; a relative path is relative to the command's own directory. */
  readonly directory: string;
  /** The command without the `cd`. */
  readonly command: string;
}

/**
 * Splits a leading `cd <path> &&` off a command, if running the rest in that directory means the same: the
 * path is one plain word, quoted or not, without expansions other than `~/`.
 *
 * Bash handles all other forms correctly. The only purpose here is a clear error about a directory that does
 * not exist, so that in doubt the command stays as it is.
 *
 * Does not use `shell/parser.ts`, which takes 15 ms to load and which no ordinary call needs. The other
 * readers of shell text are `findWordTokens()` and `findStages()`.
 *
 * @param home The directory that `~` stands for; undefined: such a path is left to the shell.
 * @param searched The command's `CDPATH`, by which `cd` finds a relative path elsewhere.
 */
export function takeLeadingCd(
  command: string,
  home: string | undefined,
  searched?: string,
): LeadingCd | undefined {
  const [start] = /^\s*cd[ \t]+/.exec(command) ?? [];
  if (start === undefined) return undefined;
  const word = readWord(command, start.length);
  if (word === undefined || !isPlainPath(word)) return undefined;
  if (searched && !word.tilde && !/^\.{0,2}(?:\/|$)/.test(word.text)) return undefined;

  const [and] = /^[ \t]*&&[ \t]*/.exec(command.slice(word.end)) ?? [];
  if (and === undefined) return undefined;
  const rest = command.slice(word.end + and.length).trimEnd();
  if (!isWholeInOneDirectory(rest)) return undefined;
  if (!word.tilde) return { directory: word.text, command: rest };
  return home === undefined
    ? undefined
    : { directory: join(home, word.text.slice(1)), command: rest };
}

interface Word {
  /** The word after quote removal. */
  readonly text: string;
  /** Index of the character after the word. */
  readonly end: number;
  /** Whether the word begins with an unquoted `~/`. */
  readonly tilde: boolean;
}

/** Characters that end a word here: a blank or the `&&` itself. */
const WORD_END = /[ \t&]/;

/** Characters with a meaning when they are unquoted: operators, expansions, patterns, comments. */
const NOT_PLAIN = /[\n\r;|<>()$`*?[\]{}!#]/;

/** Reads a shell word from `start`; undefined: it is not a plain word. */
function readWord(source: string, start: number): Word | undefined {
  const tilde = source.startsWith('~/', start);
  let text = '';
  let index = start;
  while (index < source.length) {
    const character = source.charAt(index);
    if (WORD_END.test(character)) break;
    const piece = readPiece(source, index);
    if (piece === undefined) return undefined;
    text += piece.text;
    index = piece.end;
  }
  return { text, end: index, tilde };
}

type CommandPiece = Pick<Word, 'text' | 'end'>;

function readPiece(source: string, start: number): CommandPiece | undefined {
  const character = source.charAt(start);
  if (character === "'") return readSingleQuoted(source, start);
  if (character === '"') return readDoubleQuoted(source, start);
  if (character === '\\') {
    const escaped = source.charAt(start + 1);
    // An escaped newline joins lines.
    return escaped === '' || escaped === '\n' ? undefined : { text: escaped, end: start + 2 };
  }
  return NOT_PLAIN.test(character) ? undefined : { text: character, end: start + 1 };
}

function readSingleQuoted(source: string, start: number): CommandPiece | undefined {
  const close = source.indexOf("'", start + 1);
  return close === -1 ? undefined : { text: source.slice(start + 1, close), end: close + 1 };
}

function readDoubleQuoted(source: string, start: number): CommandPiece | undefined {
  // Between the quotes `$` and the backquote expand; a backslash escapes only a few characters.
  const [quoted] = /^"(?:[^"\\$`]|\\[^\n])*"/.exec(source.slice(start)) ?? [];
  if (quoted === undefined) return undefined;
  const text = quoted.slice(1, -1).replace(/\\([$`"\\])/g, '$1');
  return { text, end: start + quoted.length };
}

function isPlainPath({ text, tilde }: Word): boolean {
  // `cd ''` does nothing, `cd -` goes back, `cd -P x` has an option; `~`, `~user` and a quoted `~` have other
  // meanings.
  if (text === '' || text.startsWith('-')) return false;
  return tilde || !text.startsWith('~');
}

/**
 * Returns whether all of `rest` would run in the directory. `cd a && b & c` runs `c` outside of it, and later
 * lines run even when the `cd` fails.
 */
function isWholeInOneDirectory(rest: string): boolean {
  if (rest === '' || rest.startsWith('#') || /[\n\r]/.test(rest)) return false;
  return !/(?<![&<>])&(?![&>])/.test(rest);
}
