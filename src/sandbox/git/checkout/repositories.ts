import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import type { EngineSandbox } from '../../../engine/message.js';
import { isAmong } from '../../paths.js';
import { readGitConfig } from '../config.js';

/** A working tree of git in which a sandbox protects names. */
export interface KeptRepository {
  /** The top directory. */
  readonly top: string;
  /** The git directory. */
  readonly git: string;
  /** The directory of its branches: the same, unless the repository has several working trees. */
  readonly common: string;
  /** The protected names, relative to the top. */
  readonly names: readonly string[];
}

const known = new WeakMap<EngineSandbox, readonly KeptRepository[]>();

/** Returns the working trees in which a sandbox protects names, whether or not git tracks them. */
export function keptRepositories(sandbox: EngineSandbox): readonly KeptRepository[] {
  const last = known.get(sandbox);
  if (last !== undefined) return last;
  const found = findRepositories(sandbox);
  known.set(sandbox, found);
  return found;
}

function findRepositories({ kept, plan }: EngineSandbox): readonly KeptRepository[] {
  const fields = plan.split('\0');
  const directories = fields.filter((_, at) => at % 2 === 1 && fields[at - 1] === 'git');
  const tops = new Map<string, KeptRepository | undefined>();
  const names = new Map<KeptRepository, string[]>();
  for (const path of kept) {
    // A checkout does not replace git's own files. A line break would make two names where git reads them.
    if (basename(path) === '.git' || isAmong(path, directories) || path.includes('\n')) continue;
    const directory = dirname(path);
    if (!tops.has(directory)) tops.set(directory, repositoryOf(directory));
    const repository = tops.get(directory);
    if (repository === undefined) continue;
    const same = [...names.keys()].find(({ top }) => top === repository.top) ?? repository;
    const those = names.get(same) ?? [];
    names.set(same, those);
    those.push(relative(repository.top, path));
  }
  return [...names].map(([repository, those]) => ({ ...repository, names: those }));
}

function repositoryOf(from: string): KeptRepository | undefined {
  for (let top = from; ; top = dirname(top)) {
    const path = top === '/' ? '/.git' : `${top}/.git`;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return { top, git: path, common: path, names: [] };
    if (found !== undefined) return linkedRepository(top, path);
    if (top === '/') return undefined;
  }
}

/** Reads the `.git` file of a linked worktree, or of a submodule. */
function linkedRepository(top: string, file: string): KeptRepository | undefined {
  const named = /^gitdir: (.+)$/m.exec(readSmall(file))?.[1];
  if (named === undefined) return undefined;
  const git = resolve(top, named);
  const common = readSmall(`${git}/commondir`).trim();
  // The directory beside a bare repository is no working tree.
  const isBare =
    common === '' && readGitConfig(`${git}/config`).get('core.bare')?.at(-1) === 'true';
  if (isBare) return undefined;
  return { top, git, common: common === '' ? git : resolve(git, common), names: [] };
}

const buffer = Buffer.alloc(4096);

/**
 * Returns the beginning of a file that a command may have made; empty when none can be read. A link is
 * not followed, and a pipe not waited for.
 */
export function readSmall(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(
      path,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, null));
  } catch {
    return '';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
