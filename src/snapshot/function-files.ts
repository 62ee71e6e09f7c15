import { quoteWord } from '../support/quote.js';

/**
 * The files of a snapshot's functions: each function has a file with its name, and there are three files
 * that are sourced for them. One of these reads every function; one those that a command names; and one
 * defines most as stubs, which read the function at its first call. All are parsed before any alias is known.
 *
 * Builtins are called by `builtin`, since functions of the user may have their names.
 */

/** Contents of the files that are sourced, by name. */
type FilesForAll = Readonly<Record<'every' | 'named' | 'stubs', string>>;

/** The directory of the functions in a snapshot's directory. */
export const FUNCTIONS = 'functions';

/** The file to source, and then the functions to read at once beside it. */
export type Selection =
  | readonly ['every']
  | readonly ['named', ...string[]]
  | readonly ['stubs', ...string[]];

export const EVERY: Selection = ['every'];

/**
 * @param directory The snapshot's directory.
 * @param names All functions.
 * @param stubs The functions that may be stubs.
 */
export function filesForAll(
  directory: string,
  names: Iterable<string>,
  stubs: ReadonlySet<string>,
): FilesForAll {
  const all = [...names];
  const [plain, odd] = [all.filter(isPosixName), all.filter((name) => !isPosixName(name))];
  const functions = quoteWord(`${directory}/${FUNCTIONS}/`, 'plain');
  const some = (of: readonly string[]): string[] => of.filter((name) => stubs.has(name)).map(stub);
  const others = (of: readonly string[]): string[] => of.filter((name) => !stubs.has(name));
  return {
    every: lines(
      reader(functions),
      `forkline_read ${plain.join(' ')}`,
      `[[ -o posix ]] || forkline_read ${odd.join(' ')}`,
      'builtin unset -f forkline_read',
    ),
    named: lines(
      reader(functions),
      'builtin shift',
      'forkline_read "$@"',
      'builtin unset -f forkline_read',
    ),
    stubs: lines(
      reader(functions),
      caller(functions),
      ...some(plain),
      `forkline_read ${others(plain).join(' ')}`,
      '[[ -o posix ]] && builtin return',
      ...some(odd),
      `forkline_read ${others(odd).join(' ')} "\${@:2}"`,
      'builtin unset -f forkline_read',
    ),
  };
}

function stub(name: string): string {
  return `${name}(){ forkline_call "$@";}`;
}

function reader(functions: string): string {
  return `forkline_read () {
  while [[ $# != 0 ]]; do
    builtin command . ${functions}"$1"
    builtin shift
  done
}`;
}

/**
 * Makes the functions that a stub calls: they put the real function in the stub's place and call it. The
 * function finds `$?`, `$_`, its arguments and options unchanged; if its file is missing, the function is
 * undefined. A text that is read late must not have its words replaced by aliases, and may need extglob.
 *
 * No variable is used: a command may have made any name readonly, and functions see their callers'
 * variables.
 */
function caller(functions: string): string {
  return `forkline_call () {
  if forkline_load "\${FUNCNAME[1]}" "$?" ":$BASHOPTS:" "$_"; then
    "\${FUNCNAME[1]}" "$@"
  else
    "\${FUNCNAME[1]}" "$@"
  fi
}
forkline_load () {
  builtin shopt -u expand_aliases
  builtin shopt -s extglob
  [[ -r ${functions}$1 ]] && builtin command . ${functions}"$1" || builtin unset -f -- "$1"
  [[ $3 == *:extglob:* ]] || builtin shopt -u extglob
  [[ $3 != *:expand_aliases:* ]] || builtin shopt -s expand_aliases
  builtin return "$2"
}`;
}

/** In POSIX mode defining a function with any other name ends the shell. */
export function isPosixName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !SPECIAL_BUILTINS.has(name);
}

const SPECIAL_BUILTINS: ReadonlySet<string> = new Set([
  ...['break', 'continue', 'eval', 'exec', 'exit', 'export', 'readonly', 'return', 'set', 'shift'],
  ...['source', 'times', 'trap', 'unset'],
]);

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
