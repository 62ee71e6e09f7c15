import { access } from 'node:fs/promises';
import { basename } from 'node:path';

/** A shell's own message about a program that it could not run. */
export interface Diagnosis {
  /** The line that it printed. */
  readonly text: string;
  readonly reason: 'notFound' | 'notExecutable';
  /** The name before the colon: the `$0` of the shell, or `environment` for bash inside a function. */
  readonly speaker: string;
}

/** The exit codes with which a shell ends after such a message. */
export const DIAGNOSED: Readonly<Record<number, Diagnosis['reason']>> = {
  126: 'notExecutable',
  127: 'notFound',
};

/**
 * Matches `bash: line 3: `, with the word for 'line' in the language in force; `bash:3: ` with the option
 * `gnu_errfmt`; `sh: 3: ` is dash.
 */
const FORM = /^(?<speaker>[^\s:]+):(?<line>\D{0,24}?)\d+\s?: (?<message>\S.*)$/;

/** The words before a line number in English; the rest of such a message is in English, too. */
const ENGLISH: ReadonlySet<string> = new Set([' line ', ' ', '']);
const NOT_FOUND = /: (?:command not found|not found|No such file or directory)$/;

/** Matches a message of `wait`, which exits with 127 for a process that is not a child of its shell. */
const OTHER_MEANING = /^wait: /;

/**
 * Finds a shell's own message about a program that was not found or could not be executed. The shell
 * prints it last before it exits with 126 or 127, on a line of its own.
 *
 * @param stderr The end of stderr, as far as it was kept.
 */
export function findDiagnosis(exitCode: number, stderr: string): Diagnosis | undefined {
  const reason = DIAGNOSED[exitCode];
  if (reason === undefined || !stderr.endsWith('\n')) return undefined;
  const text = stderr.slice(stderr.lastIndexOf('\n', stderr.length - 2) + 1, -1);
  const { speaker = '', line = '', message = '' } = FORM.exec(text)?.groups ?? {};
  if (speaker === '' || OTHER_MEANING.test(message)) return undefined;
  if (reason === 'notFound' && ENGLISH.has(line) && !saysNotFound(message)) return undefined;
  return { text, reason, speaker };
}

/** Checks the last form without an expression, which would search from every colon on. */
function saysNotFound(message: string): boolean {
  if (NOT_FOUND.test(message)) return true;
  const colon = message.indexOf(': ');
  return colon !== -1 && message.includes('required file', colon + 2);
}

/**
 * Returns whether the command's own shell has that name: `sh: 1: x: not found` is a message of the shell only
 * where there is no bash, and otherwise one of a program.
 *
 * @param shells As in the option `shell`.
 * @param environment The command's environment block.
 */
export async function speaksForShell(
  speaker: string,
  shells: readonly string[] | undefined,
  environment: string,
): Promise<boolean> {
  const name = basename(await firstThatExists(shells ?? usualShells(environment)));
  return speaker === name || (name === 'bash' && speaker === 'environment');
}

async function firstThatExists(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    try {
      await access(path);
      return path;
    } catch {
      // The next one may exist.
    }
  }
  return '';
}

/** The shells that the engine tries. */
function usualShells(environment: string): string[] {
  const path = environment.split('\0').find((entry) => entry.startsWith('PATH=')) ?? '';
  // Each character of the block is one byte.
  const folders = Buffer.from(path.slice('PATH='.length), 'latin1').toString('utf8').split(':');
  const bashes = folders.filter((folder) => folder.startsWith('/')).map((each) => `${each}/bash`);
  return ['/bin/bash', ...bashes, '/bin/sh'];
}
