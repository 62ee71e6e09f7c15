import { lstatSync } from 'node:fs';
import type { EngineSandbox } from '../../../engine/message.js';
import { type KeptRepository, keptRepositories, readSmall } from './repositories.js';

/** The state of a working tree when a command began. */
export interface CheckoutMark {
  readonly repository: KeptRepository;
  /** The commit that was checked out; empty: not known. */
  readonly commit: string;
  /** A text that changes when HEAD, its branch or the index does. */
  readonly stamp: string;
  /** Length of the log of HEAD, in bytes. */
  readonly logBytes: number;
  /** When HEAD had last moved, in seconds since 1970; NaN: not known. */
  readonly movedAt: number;
  /** When the state was recorded, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * Records the state of the working trees in which a sandbox protects names. Every sandboxed command comes
 * through here.
 */
export function markCheckouts(sandbox: EngineSandbox): readonly CheckoutMark[] {
  return keptRepositories(sandbox).map(markOf);
}

/** Returns whether HEAD, its branch or the index has changed since. */
export function hasMoved({ repository, stamp }: CheckoutMark): boolean {
  return markOf(repository).stamp !== stamp;
}

// Paths are joined by hand: `join` costs as much as the system calls.
function markOf(repository: KeptRepository): CheckoutMark {
  const { git, common } = repository;
  const head = readAgain(`${git}/HEAD`);
  const [, ref] = /^ref: (refs\/[^\0]+)$/.exec(head) ?? [];
  const isSafe = ref !== undefined && !ref.includes('..');
  const own = isSafe ? readAgain(`${common}/${ref}`) : head;
  const log = lstatSync(`${git}/logs/HEAD`, { throwIfNoEntry: false });
  // A branch without a file of its own is in one of two files with all branches.
  const packed =
    own === ''
      ? `${stampOf(`${common}/packed-refs`)} ${stampOf(`${common}/reftable/tables.list`)}`
      : '';
  const logBytes = log?.size ?? -1;
  const movedAt = (log?.mtimeMs ?? Number.NaN) / 1000;
  const stamp = [head, own, packed, logBytes, stampOf(`${git}/index`)].join('\n');
  const commit = /^[\da-f]{40,64}$/.test(own) ? own : '';
  return { repository, commit, stamp, logBytes, movedAt, at: Date.now() };
}

const MOST_READ = 64;
const read = new Map<string, { stamp: string; text: string }>();

/**
 * Reads a small file of git's, or returns its text from before: git replaces such a file instead of
 * writing to it, so a stat() is enough, and costs less.
 */
function readAgain(path: string): string {
  const stamp = stampOf(path);
  if (stamp === '') return '';
  const last = read.get(path);
  if (last?.stamp === stamp) return last.text;
  const text = readSmall(path).trim();
  if (read.size >= MOST_READ) read.clear();
  read.set(path, { stamp, text });
  return text;
}

function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}
