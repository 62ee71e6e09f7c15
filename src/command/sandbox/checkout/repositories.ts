import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { EngineSandbox } from '../../../engine/message.js';

/** A working tree of git in which a sandbox keeps names. */
export interface KeptRepository {
  /** Its topmost directory. */
  readonly top: string;
  /** Its git directory. */
  readonly git: string;
  /** Where its branches are: the same, unless it is one of several working trees. */
  readonly common: string;
  /** What is kept, relative to the top; at least one. */
  readonly names: readonly string[];
}

const known = new WeakMap<EngineSandbox, readonly KeptRepository[]>();

/** The working trees in which a sandbox keeps names, whether or not git tracks them. */
export function keptRepositories(sandbox: EngineSandbox): readonly KeptRepository[] {
  const last = known.get(sandbox);
  if (last !== undefined) return last;
  const found = findRepositories(sandbox.kept);
  known.set(sandbox, found);
  return found;
}

function findRepositories(kept: readonly string[]): readonly KeptRepository[] {
  const tops = new Map<string, string | undefined>();
  const names = new Map<string, string[]>();
  for (const path of kept) {
    // What is git's own, no checkout replaces. A line break would be two names where git reads them.
    if (basename(path) === '.git' || path.includes('/.git/') || path.includes('\n')) continue;
    const directory = dirname(path);
    if (!tops.has(directory)) tops.set(directory, topOf(directory));
    const top = tops.get(directory);
    if (top === undefined) continue;
    const those = names.get(top) ?? [];
    names.set(top, those);
    those.push(relative(top, path));
  }
  return [...names].flatMap(([top, those]) => {
    const git = gitDirectoryOf(top);
    if (git === undefined) return [];
    const common = readSmall(join(git, 'commondir')).trim();
    return [{ top, git, common: common === '' ? git : resolve(git, common), names: those }];
  });
}

function topOf(from: string): string | undefined {
  for (let directory = from; ; directory = dirname(directory)) {
    if (statSync(join(directory, '.git'), { throwIfNoEntry: false })) return directory;
    if (directory === dirname(directory)) return undefined;
  }
}

function gitDirectoryOf(top: string): string | undefined {
  const path = join(top, '.git');
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  const named = /^gitdir: (.+)$/m.exec(readSmall(path))?.[1];
  return named === undefined ? undefined : resolve(top, named);
}

const buffer = Buffer.alloc(4096);

/**
 * The beginning of a file that a command may have put there; empty: there is none that could be read. A
 * link is not followed, and a pipe not waited for.
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
