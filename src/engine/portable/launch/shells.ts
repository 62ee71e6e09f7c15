import { isUtf8 } from 'node:buffer';
import { lstatSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { EngineCommand } from '../../message.js';

/** How a shell is called with a command's text. */
export interface ShellInvocation {
  readonly path: string;
  /** What it calls itself. */
  readonly name: string;
  readonly args: readonly string[];
  /**
   * Goes through {@link SCRIPT_DESCRIPTOR}: the text, if it is too long for an argument; and before
   * it a line for which the shell waits, if it is to be made slower first.
   */
  readonly script: string | undefined;
  /** Through which it tells where it is at its end; undefined: it does not. */
  readonly directoryDescriptor: number | undefined;
  /** Its arguments as `ps` shows them, up to the text: who has these is the shell itself. */
  readonly shownAs: string;
}

/** The paths where a shell may be: bash in its usual place, bash on the command's PATH, sh. */
export function usualShells(environment: Readonly<Record<string, string>>): readonly string[] {
  const folders = (environment.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const bashes = folders.map((folder) => `${folder}/bash`);
  return [...new Set(['/bin/bash', ...bashes, '/bin/sh'])];
}

/** Longest text that is an argument: well under the 128 KiB that Linux takes. */
const LONGEST_TEXT = 96 * 1024;
/** Only one digit is understood by every shell. */
const SCRIPT_DESCRIPTOR = 3;

/**
 * The text is an argument, which every shell takes in the same way. `eval` has it, so that a syntax
 * error comes after the streams have become one; before it is read it is out of the way. In bash,
 * whose errors repeat the line, it stands there alone.
 */
const EVAL = 'eval "shift;$1"';
const EVAL_IN_BASH = 'FORKLINE_TEXT=$1;shift;eval -- "$FORKLINE_TEXT"';
/** `cat` is the system's, not the first one on the PATH; without it, nothing is run. */
const EVAL_SCRIPT = `eval "$(command -p cat <&${SCRIPT_DESCRIPTOR} || echo exit 126)" ${SCRIPT_DESCRIPTOR}<&-`;
const MERGE = 'exec 2>&1;';
const WAIT = `read -r FORKLINE_TEXT <&${SCRIPT_DESCRIPTOR};`;
const CLOSE = `exec ${SCRIPT_DESCRIPTOR}<&-;`;
/** For shells that can't redirect themselves, or set a umask in octal. */
const AROUND_SHELL = (merged: boolean, mask: string): string =>
  `${mask}exec "$0" "$@"${merged ? ' 2>&1' : ''}`;

/** What a shell does to have this umask. */
export const maskText = (umask: number | undefined): string =>
  umask === undefined ? '' : `umask ${umask.toString(8).padStart(4, '0')};`;

/** What a shell does before it becomes a program. */
export const AROUND_PROGRAM = (merged: boolean, waits: boolean, mask: string): string =>
  `${mask}${merged ? MERGE : ''}${waits ? `${WAIT}${CLOSE}` : ''}exec "$0" "$@"`;

type Demand = Pick<
  EngineCommand,
  'text' | 'separate' | 'follow' | 'terminal' | 'lowPriority' | 'umask'
>;

/** How a shell at this path is called. */
export function shellCall(path: string, command: Demand): ShellInvocation {
  const { text, terminal } = command;
  // A terminal is one stream, and there are no descriptors beside it.
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

/** The options by which each reads no start-up file that nobody has asked for. */
const QUIET: Readonly<Record<Dialect, readonly string[]>> = {
  bash: ['--norc'],
  zsh: ['-f'],
  fish: ['--no-config'],
  csh: ['-f'],
  sh: [],
};

/** Not where scripts have their own, where the shell understands more than one digit. */
const DIRECTORY_DESCRIPTORS: Readonly<Record<'bash' | 'zsh' | 'sh', number>> = {
  bash: 97,
  zsh: 9,
  sh: 9,
};

/**
 * Words around the text that tell where the shell is: at its exit, unless the text has a trap of its
 * own for that; and when it has come to its end. Each tells the path, a newline and NUL, and what
 * comes last counts. `exec` needs no descriptor to remember the old ones by, of which there may be
 * none left; so what comes before the exit is in a subshell. Nobody is told what goes wrong here.
 */
function tellDirectory(dialect: Dialect, descriptor: number): readonly [string, string] {
  const own = dialect === 'sh' ? 'command' : 'builtin';
  const exec = dialect === 'sh' ? 'command exec' : 'exec';
  const print = `${own} pwd -P&&${own} printf "\\0"`;
  const tell = `${exec} 2>&-;${exec} >&${descriptor}&&${print}`;
  return [`trap '${tell}' EXIT;`, `;set -- "$?";(${tell});exit "$1"`];
}

const dialects = new Map<string, Dialect>();

/** By its name, whatever links lead to it; called `sh`, every shell behaves like one. */
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

/** The path in what a shell has told, if it has. */
export function toldDirectory(told: Buffer): string | undefined {
  const last = told.subarray(0, told.lastIndexOf(0));
  const bytes = last.subarray(last.lastIndexOf(0) + 1);
  // One that is no text could not be entered again by what stands for it.
  const path = isUtf8(bytes) ? bytes.toString('utf8') : '';
  return path.startsWith('/') && path.endsWith('\n') ? path.slice(0, -1) : undefined;
}
