import { accessSync, constants, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { EngineCommand } from '../../message.js';
import { ERRNO } from '../../system-error.js';
import { errnoOf } from '../failure.js';
import { AROUND_PROGRAM, maskText, type ShellInvocation } from './shells.js';

type Program = Pick<EngineCommand, 'separate' | 'terminal' | 'lowPriority' | 'umask'>;

/**
 * Returns the call of a program: it is searched on the command's PATH unless its name has a slash. Where
 * its streams must be merged or the like, a shell does that and executes the program.
 *
 * @returns The errno of why no such program can be executed.
 */
export function programCall(
  [name = '', ...args]: readonly string[],
  command: Program,
  directory: string,
  path: string | undefined,
): ShellInvocation | { readonly errno: number } {
  const found = find(name, directory, path);
  if (typeof found !== 'string') return found;
  const merged = !command.separate && command.terminal === undefined;
  const waits = command.lowPriority && command.terminal === undefined;
  const shownAs = [name, ...args].join(' ');
  const plain = { directoryDescriptor: undefined, shownAs };
  const mask = maskText(command.umask);
  if (!merged && !waits && mask === '')
    return { ...plain, path: found, name, args, script: undefined };
  const words = ['-c', AROUND_PROGRAM(merged, waits, mask), found, ...args];
  return { ...plain, path: '/bin/sh', name: 'sh', args: words, script: waits ? '\n' : undefined };
}

function find(name: string, directory: string, path = ''): string | { readonly errno: number } {
  const folders = name.includes('/') ? [''] : path.split(':').map((folder) => folder || '.');
  let errno: number = ERRNO.ENOENT;
  for (const folder of folders) {
    const candidate = resolve(directory, folder, name);
    const reason = reasonAgainst(candidate);
    if (reason === undefined) return candidate;
    // An existing program that may not be executed explains more than a missing one.
    if (reason !== ERRNO.ENOENT && reason !== ERRNO.ENOTDIR) errno = reason;
  }
  return { errno };
}

function reasonAgainst(path: string): number | undefined {
  try {
    if (!statSync(path).isFile()) return ERRNO.EACCES;
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error);
  }
}

/** Makes the call of a program for an error message. */
export const namedCall = (argv: readonly string[]): ShellInvocation => ({
  path: argv[0] ?? '',
  name: basename(argv[0] ?? ''),
  args: argv.slice(1),
  script: undefined,
  directoryDescriptor: undefined,
  shownAs: '',
});
