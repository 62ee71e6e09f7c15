/**
 * Variables by which the host's own shell would change what a command means. No policy lets a
 * command inherit them; a caller that wants one sets it.
 */
const NEVER_INHERITED: ReadonlySet<string> = new Set([
  // Files and code that a starting shell runs.
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
  // Where trace output goes: a descriptor that the command does not have.
  'BASH_XTRACEFD',
  // `cd src` to some other src, globs and `read` that end early.
  'CDPATH',
  'GLOBIGNORE',
  'EXECIGNORE',
  'TMOUT',
  // Facts about the host's shell that are not true of the command's.
  'SHLVL',
  'PWD',
  'OLDPWD',
  // The engine's own.
  '_',
  'FORKLINE_MARK',
]);

/** Exported functions: any of them can stand in for a program. */
const EXPORTED_FUNCTION = 'BASH_FUNC_';

/**
 * Whether these variables have code run before a command's text, or functions known to it. (The
 * engine sees to the text itself: native/engine/src/shell/forerunner.rs.)
 */
export function runsCodeFirst(variables: Readonly<Record<string, unknown>> | undefined): boolean {
  return Object.entries(variables ?? {}).some(
    ([name, value]) =>
      value !== undefined &&
      (name === 'BASH_ENV' || name === 'BASHOPTS' || name.startsWith(EXPORTED_FUNCTION)),
  );
}

/** Whether a variable of this name steers the shell, and so is never inherited. */
export function isShellVariable(name: string): boolean {
  return NEVER_INHERITED.has(name) || name.startsWith(EXPORTED_FUNCTION);
}
