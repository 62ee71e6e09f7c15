import { isUtf8 } from 'node:buffer';
import { lstatSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { EngineCommand } from '../../message.js';

/** A call of a shell with a command's text. */
export interface ShellInvocation {
  readonly path: string;
  /** The name by which it is called. */
  readonly name: string;
  readonly args: readonly string[];
  /**
   * Sent through {@link SCRIPT_DESCRIPTOR}: the text, if it is too long for an argument; and before it a
   * line that the shell waits for, if its priority is to be lowered first.
   */
  readonly script: string | undefined;
  /** The file descriptor for its report of the last working directory; undefined: it makes none. */
  readonly directoryDescriptor: number | undefined;
  /** Its arguments as `ps` shows them, up to the text: a process with these is the shell itself. */
  readonly shownAs: string;
}

/** Returns the possible paths of a shell: bash in its usual place, bash on the command's PATH, sh. */
export function usualShells(environment: Readonly<Record<string, string>>): readonly string[] {
  const folders = (environment.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const bashes = folders.map((folder) => `${folder}/bash`);
  return [...new Set(['/bin/bash', ...bashes, '/bin/sh'])];
}

/** The longest text that is passed as an argument: well below the 128 KiB that Linux takes. */
const LONGEST_TEXT = 96 * 1024;
/** A single digit, since some shells support no more. */
const SCRIPT_DESCRIPTOR = 3;

/**
 * The text is an argument, which every shell takes in the same way. It is run by `eval`, so that a syntax
 * error is reported after the streams were merged; it is removed from the arguments before it is read. In
 * bash, whose errors repeat the line, it stands alone on its line.
 */
const EVAL = 'eval "shift;$1"';
const EVAL_IN_BASH = 'FORKLINE_TEXT=$1;shift;eval -- "$FORKLINE_TEXT"';
/** `cat` is the system's, not the first one on the PATH; without it, nothing is run. */
const EVAL_SCRIPT = `eval "$(command -p cat <&${SCRIPT_DESCRIPTOR} || echo exit 126)" ${SCRIPT_DESCRIPTOR}<&-`;
const MERGE = 'exec 2>&1;';
const WAIT = `read -r FORKLINE_TEXT <&${SCRIPT_DESCRIPTOR};`;
const CLOSE = `exec ${SCRIPT_DESCRIPTOR}<&-;`;
/** Makes the text around a shell that cannot redirect its own output, or set a umask in octal. */
const AROUND_SHELL = (merged: boolean, mask: string): string =>
  `${mask}exec "$0" "$@"${merged ? ' 2>&1' : ''}`;

/** Makes the text that sets a umask. */
export const maskText = (umask: number | undefined): string =>
  umask === undefined ? '' : `umask ${umask.toString(8).padStart(4, '0')};`;

/** Makes the text of a shell that prepares and then executes a program. */
export const AROUND_PROGRAM = (merged: boolean, waits: boolean, mask: string): string =>
  `${mask}${merged ? MERGE : ''}${waits ? `${WAIT}${CLOSE}` : ''}exec "$0" "$@"`;

type Demand = Pick<
  EngineCommand,
  'text' | 'separate' | 'follow' | 'terminal' | 'lowPriority' | 'umask'
>;

/** Returns the call of the shell at this path. */
export function shellCall(path: string, command: Demand): ShellInvocation {
  const { text, terminal } = command;
  // A terminal is one stream, and there are no file descriptors beside it.
  const merged = !command.separate && terminal === undefined;
  const follow = command.follow && terminal === undefined;
  const name = basename(path);
  const dialect = dialectOf(path);
  const quiet = QUIET[dialect];
  const mask = maskText(command.umask);
  if (dialect === 'fish' || dialect === 'csh') {
    const args = [...quiet, '-c', text];
    const plain = { name, script: undefined, directoryDescriptor: undefined };
    const shownAs = [path, ...quiet, '-c'].join(' ');
    if (!merged && mask === '') return { ...plain, path, args, shownAs };
    const around = ['-c', AROUND_SHELL(merged, mask), path, ...args];
    return { ...plain, path: '/bin/sh', args: around, shownAs };
  }
  const waits = command.lowPriority && terminal === undefined;
  const isLong = terminal === undefined && Buffer.byteLength(text) > LONGEST_TEXT;
  const directoryDescriptor = follow ? DIRECTORY_DESCRIPTORS[dialect] : undefined;
  const [before, after] =
    directoryDescriptor === undefined ? ['', ''] : tellDirectory(dialect, directoryDescriptor);
  const evaluate = dialect === 'bash' ? EVAL_IN_BASH : EVAL;
  const run = isLong ? EVAL_SCRIPT : `${waits ? CLOSE : ''}${evaluate}`;
  const words = `${mask}${merged ? MERGE : ''}${waits ? WAIT : ''}${before}${run}${after}`;
  const script = `${waits ? '\n' : ''}${isLong ? text : ''}` || undefined;
  const args = [...quiet, '-c', '--', words, name, ...(isLong ? [] : [text])];
  const shownAs = [name, ...quiet, '-c', '--', words].join(' ');
  return { path, name, args, script, directoryDescriptor, shownAs };
}

/** Kinds of shells that are called differently; `sh` is any other one. */
type Dialect = 'bash' | 'zsh' | 'fish' | 'csh' | 'sh';

/** Options by which a shell reads no start-up file. */
const QUIET: Readonly<Record<Dialect, readonly string[]>> = {
  bash: ['--norc'],
  zsh: ['-f'],
  fish: ['--no-config'],
  csh: ['-f'],
  sh: [],
};

/** Outside the range that scripts use themselves, where the shell supports two digits. */
const DIRECTORY_DESCRIPTORS: Readonly<Record<'bash' | 'zsh' | 'sh', number>> = {
  bash: 97,
  zsh: 9,
  sh: 9,
};

/**
 * Makes the words around the text that report the shell's working directory: at its exit, unless the text
 * sets a trap of its own for that; and after the text. Each reports the path, a newline and NUL, and the
 * last report counts. `exec` needs no file descriptor to save the old ones, since none may be left; so
 * the report at the end is in a subshell. Errors here are not reported.
 */
function tellDirectory(dialect: Dialect, descriptor: number): readonly [string, string] {
  const own = dialect === 'sh' ? 'command' : 'builtin';
  const exec = dialect === 'sh' ? 'command exec' : 'exec';
  const print = `${own} pwd -P&&${own} printf "\\0"`;
  const tell = `${exec} 2>&-;${exec} >&${descriptor}&&${print}`;
  return [`trap '${tell}' EXIT;`, `;set -- "$?";(${tell});exit "$1"`];
}

const dialects = new Map<string, Dialect>();

/**
 * Returns the dialect by the shell's name, after links are resolved; called as `sh`, every shell behaves
 * like one.
 */
function dialectOf(path: string): Dialect {
  const known = dialects.get(path);
  if (known !== undefined) return known;
  const found = dialectNamed(basename(path) === 'sh' ? 'sh' : basename(targetOf(path)));
  dialects.set(path, found);
  return found;
}

function targetOf(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    return path;
  }
}

function dialectNamed(name: string): Dialect {
  if (name === 'rbash' || name.startsWith('bash')) return 'bash';
  if (name.startsWith('zsh')) return 'zsh';
  if (name.startsWith('fish')) return 'fish';
  return ['csh', 'tcsh', 'bsd-csh'].includes(name) ? 'csh' : 'sh';
}

/** Returns the path in a shell's reports, if there is one. */
export function toldDirectory(told: Buffer): string | undefined {
  const last = told.subarray(0, told.lastIndexOf(0));
  const bytes = last.subarray(last.lastIndexOf(0) + 1);
  // A path that is not UTF-8 could not be entered again by its converted text.
  const path = isUtf8(bytes) ? bytes.toString('utf8') : '';
  return path.startsWith('/') && path.endsWith('\n') ? path.slice(0, -1) : undefined;
}
