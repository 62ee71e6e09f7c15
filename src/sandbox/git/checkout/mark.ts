import { lstatSync } from 'node:fs';
import type { EngineSandbox } from '../../../engine/message.js';
import { type KeptRepository, keptRepositories, readSmall } from './repositories.js';

/** How a working tree stood when a command began. */
export interface CheckoutMark {
  readonly repository: KeptRepository;
  /** The commit that was checked out; empty: that was not to be seen. */
  readonly commit: string;
  /** Changes when HEAD, its branch or the index does. */
  readonly stamp: string;
  /** How long the log of HEAD was, in bytes. */
  readonly logBytes: number;
  /** When HEAD had moved last, in seconds since 1970; NaN: that was not to be seen. */
  readonly movedAt: number;
  /** When that was, in milliseconds since 1970. */
  readonly at: number;
}

/** How the working trees stand in which a sandbox keeps names. On every sandboxed command's way. */
export function markCheckouts(sandbox: EngineSandbox): readonly CheckoutMark[] {
  return keptRepositories(sandbox).map(markOf);
}

/** Whether HEAD, its branch or the index is another one since then. */
export function hasMoved({ repository, stamp }: CheckoutMark): boolean {
  return markOf(repository).stamp !== stamp;
}

// Paths are put together by hand: `join` costs as much as the system calls.
function markOf(repository: KeptRepository): CheckoutMark {
  const { git, common } = repository;
  const head = readAgain(`${git}/HEAD`);
  const [, ref] = /^ref: (refs\/[^\0]+)$/.exec(head) ?? [];
  const isSafe = ref !== undefined && !ref.includes('..');
  const own = isSafe ? readAgain(`${common}/${ref}`) : head;
  const log = lstatSync(`${git}/logs/HEAD`, { throwIfNoEntry: false });
  // A branch without a file of its own is among all others, in one of two places.
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

/** Git replaces such a file by another one, and does not write to it: a look costs less than to read it. */
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
