/**
 * Variables of the host's environment that would change what a command means. No policy lets a command
 * inherit them; a caller that wants one sets it.
 */
const NEVER_INHERITED: ReadonlySet<string> = new Set([
  // Files and code that a shell runs when it starts.
  'BASH_ENV',
  'ENV',
  'PROMPT_COMMAND',
  // Prompts: PS4 is expanded, commands in it included, under `set -x`; a PS1 makes scripts believe
  // that a person is typing.
  'PS0',
  'PS1',
  'PS2',
  'PS3',
  'PS4',
  // Options and compatibility levels: `errexit`, `noglob` or POSIX mode by surprise.
  'BASHOPTS',
  'SHELLOPTS',
  'BASH_COMPAT',
  'POSIXLY_CORRECT',
  // The file descriptor for trace output, which the command does not have.
  'BASH_XTRACEFD',
  // Variables that lead `cd src` to another directory, or end globs and `read` early.
  'CDPATH',
  'GLOBIGNORE',
  'EXECIGNORE',
  'TMOUT',
  // Facts about the host's shell that are not true of the command's shell.
  'SHLVL',
  'PWD',
  'OLDPWD',
  // Variables that the engine sets.
  '_',
  'FORKLINE_MARK',
]);

/** Prefix of exported functions, each of which can replace a program. */
const EXPORTED_FUNCTION = 'BASH_FUNC_';

/**
 * Returns whether these variables run code before a command's text, or define functions for it. (The
 * engine checks the text itself: native/engine/src/shell/forerunner.rs.)
 */
export function runsCodeFirst(variables: Readonly<Record<string, unknown>> | undefined): boolean {
  return Object.entries(variables ?? {}).some(
    ([name, value]) =>
      value !== undefined &&
      (name === 'BASH_ENV' || name === 'BASHOPTS' || name.startsWith(EXPORTED_FUNCTION)),
  );
}

/** Returns whether a variable of this name controls the shell, and therefore is never inherited. */
export function isShellVariable(name: string): boolean {
  return NEVER_INHERITED.has(name) || name.startsWith(EXPORTED_FUNCTION);
}
