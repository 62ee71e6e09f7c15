import { ASSIGNMENT, NAME, NOT_PLAIN, pieces } from './plain-commands.js';

/**
 * Returns whether a text can call no function but those that it names: all of its commands are words of
 * their own, and none of them takes code or the name of a function from elsewhere. Anything that is not
 * certain makes a text open: substitutions, arithmetic, `case`, builtins that evaluate.
 */
export function isClosed(text: string): boolean {
  return endOf(text) !== undefined;
}

/** Returns whether the text of an alias is closed, and text after it too whatever follows. */
export function isClosedAlias(text: string): boolean {
  return endOf(text) === 'command' && !/[ \t]$/.test(text);
}

/** Returns whether a function, as `declare -f` prints it, is closed. */
export function isClosedFunction(definition: string): boolean {
  const [, body] = /^[^\n]* \(\) \n\{ \n([\s\S]*)\n\}\n$/.exec(definition) ?? [];
  return body !== undefined && isClosed(body);
}

/** The place at which a text ends: within a command, or where another begins; undefined: it is open. */
function endOf(text: string): 'command' | 'start' | undefined {
  let name: string | undefined;
  let words = 0;
  let toFile = false;
  for (let at = 0; at < text.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at;
    const found = PIECE.exec(text);
    if (found === null) return undefined;
    const [piece, separator, redirection, word] = found;
    if (toFile && (separator ?? redirection) !== undefined) return undefined;
    if (separator !== undefined) name = undefined;
    else if (redirection !== undefined) toFile = !/[\d-]$/.test(piece);
    else if (word === undefined) continue;
    else if (toFile) toFile = false;
    else if (name !== undefined) {
      if (!isClosedArgument(name, word, words)) return undefined;
      words += 1;
    } else if (!ASSIGNMENT.test(word) && !BEFORE_COMMANDS.has(word)) {
      if (!isClosedName(word)) return undefined;
      name = word;
      words = 0;
    }
  }
  if (toFile) return undefined;
  return name === undefined ? 'start' : 'command';
}

function isClosedName(word: string): boolean {
  if (!NAME.test(word) || word.startsWith('-')) return false;
  return !NOT_PLAIN.has(word) || CLOSED.has(word);
}

/** @param before The number of arguments before this one. */
function isClosedArgument(name: string, word: string, before: number): boolean {
  // With other attributes a variable's value is evaluated.
  if (name === 'local') return /^[A-Za-z_]\w*(?:=|$)/.test(word);
  // `-v` and `-R` evaluate what is in brackets.
  if (!EXAMINES.has(name)) return true;
  const bare = word.replace(/["']/g, '');
  return !/^-[vR]/.test(bare) && !(name === 'printf' && before === 0 && bare.includes('$'));
}

const PIECE = pieces('\\{[1-9]\\}|[1-9?$!#@*]');

/** Words after which a command begins; `command` calls no function. */
const BEFORE_COMMANDS: ReadonlySet<string> = new Set([
  ...['if', 'then', 'elif', 'else', 'while', 'until', 'do', '!', '{', 'command'],
]);

/** Words and builtins that `NOT_PLAIN` has, and that run no code. */
const CLOSED: ReadonlySet<string> = new Set([
  ...[
    'fi',
    'for',
    'done',
    'local',
    'return',
    'shift',
    'break',
    'continue',
    'pushd',
    'popd',
    'dirs',
  ],
]);

const EXAMINES: ReadonlySet<string> = new Set(['[', 'test', 'printf']);
