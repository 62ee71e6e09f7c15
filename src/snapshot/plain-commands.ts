/**
 * Parses commands of only programs, words, files and variables, such as `CI=1 npm test >$LOG`. Anything
 * that is not certain makes a text not plain: a computed name, nested syntax, a builtin that examines the
 * shell or changes it.
 */

/** The commands of a plain text. */
interface PlainCommands {
  readonly names: readonly string[];
  /** The variables that the text names, to read or to set them. */
  readonly variables: readonly string[];
  /** Whether text that follows would continue the last command. */
  readonly isContinued: boolean;
}

/** @returns undefined: the text is not plain. */
export function plainCommands(text: string): PlainCommands | undefined {
  const names: string[] = [];
  let name: string | undefined;
  let toFile = false;
  let at = 0;
  while (at < text.length) {
    PIECE.lastIndex = at;
    const found = PIECE.exec(text);
    if (found === null) return undefined;
    at = PIECE.lastIndex;
    const [piece, separator, redirection, word] = found;
    if (separator !== undefined) {
      if (toFile) return undefined;
      name = undefined;
    } else if (redirection !== undefined) {
      if (toFile) return undefined;
      toFile = !/[\d-]$/.test(piece);
    } else if (word !== undefined) {
      if (toFile) toFile = false;
      else if (name === undefined) {
        if (ASSIGNMENT.test(word)) continue;
        if (!NAME.test(word) || NOT_PLAIN.has(word)) return undefined;
        names.push(word);
        name = word;
      } else if (TESTING.has(name) && /^(?:-[vR]|.*\$)/.test(word.replace(/["']/g, '')))
        return undefined;
    }
  }
  if (toFile) return undefined;
  return { names, variables: variablesIn(text), isContinued: name !== undefined };
}

/** Finds variables, those in single quotes too: some too many, but none too few. */
function variablesIn(text: string): string[] {
  const found = text.matchAll(/\$\{?([A-Za-z_]\w*)|(?:^|[\s;&|])([A-Za-z_]\w*)\+?=/g);
  return [...found].map(([, read, set]) => read ?? set ?? '');
}

/**
 * Matches blanks, a separator of commands, a redirection, or a word that expands to no other words.
 *
 * @param parameters A pattern for the parameters that a word may have beside named ones.
 */
export function pieces(parameters: string): RegExp {
  const parameter = `\\$(?:[A-Za-z_]\\w*|\\{[A-Za-z_]\\w*\\}|${parameters})`;
  const separator = '\\n|;|&&|\\|\\|?';
  const redirection = '\\d*[<>]&(?:\\d+|-)(?![^\\s;&|<>])|(?:\\d*|&)>>?(?![>&|(])|\\d*<(?![<>&(])';
  const plain = '[\\w./:=@%+,^*?![\\]{}~-]|[^\\0-\\x7f]';
  const word = `(?:${plain}|'[^']*'|${parameter}|"(?:[^"$\`\\\\]|${parameter})*")+`;
  return new RegExp(`[ \\t]+|(${separator})|(${redirection})|(${word})`, 'y');
}

const PIECE = pieces('[?$!]');

export const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

export const NAME = /^(?:[\w./+-]+|\[|:)$/;

/** Builtins that read or set a variable with `-v` or `-R`. */
const TESTING: ReadonlySet<string> = new Set(['[', 'test', 'printf']);

/** Reserved words, and builtins except those that only print, test, exit or change the directory. */
export const NOT_PLAIN: ReadonlySet<string> = new Set([
  ...['case', 'coproc', 'do', 'done', 'elif', 'else', 'esac', 'fi', 'for', 'function', 'if', 'in'],
  ...['select', 'then', 'time', 'until', 'while'],
  ...['.', 'alias', 'bg', 'bind', 'break', 'builtin', 'caller', 'command', 'compgen', 'complete'],
  ...['compopt', 'continue', 'declare', 'dirs', 'disown', 'enable', 'eval', 'exec', 'export', 'fc'],
  ...['fg', 'getopts', 'hash', 'help', 'history', 'jobs', 'let', 'local', 'logout', 'mapfile'],
  ...[
    'popd',
    'pushd',
    'read',
    'readarray',
    'readonly',
    'return',
    'set',
    'shift',
    'shopt',
    'source',
  ],
  ...['suspend', 'times', 'trap', 'type', 'typeset', 'ulimit', 'umask', 'unalias', 'unset', 'wait'],
]);
