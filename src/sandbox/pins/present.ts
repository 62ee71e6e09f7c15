import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A file or a link at a setting, or below one. */
export interface PresentFile {
  readonly path: string;
  /** As git has it in a tree. */
  readonly mode: '100644' | '100755' | '120000';
  /** The names of its content, as git has them in repositories of either kind. */
  readonly sha1: string;
  readonly sha256: string;
}

/** A setting that is longer does not go in anyway. */
const LONGEST_BYTES = 1024 * 1024;
const MOST_FILES = 512;
const MOST_BYTES = 16 * 1024 * 1024;
/** Of settings that were accepted, the newest count. */
const MOST_ACCEPTED = 256;

const accepted = new Map<string, PresentFile>();

/**
 * Returns the files at the settings of a directory, with all that are below them. Of many, the first.
 *
 * @param settings Names.
 */
export function presentAmong(root: string, settings: readonly string[]): readonly PresentFile[] {
  const found: PresentFile[] = [];
  const ahead = settings.map((name) => join(root, name)).reverse();
  let bytes = 0;
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    try {
      const status = lstatSync(path, { bigint: true });
      if (status.isDirectory()) {
        const names = readdirSync(path).sort().reverse();
        for (const name of names) ahead.push(join(path, name));
        continue;
      }
      bytes += Number(status.size);
      if (found.length >= MOST_FILES || bytes > MOST_BYTES) break;
      found.push(...presentAt(path, status));
    } catch {
      // There is none, or it can't be read.
    }
  }
  return found;
}

/** A change that was accepted, as its record has it. */
interface AcceptedChange {
  readonly path: string;
  readonly what: 'file' | 'link' | 'removal';
  readonly mode: number;
}

/** Counts a setting that its user has accepted, as it would have counted had it been there before. */
export function countAccepted({ path, what, mode }: AcceptedChange, content: Uint8Array): void {
  const kind = what === 'link' ? '120000' : (mode & 0o100) === 0 ? '100644' : '100755';
  accepted.delete(path);
  accepted.set(path, { path, mode: kind, ...namesOf(content) });
  const [oldest] = accepted.keys();
  if (accepted.size > MOST_ACCEPTED && oldest !== undefined) accepted.delete(oldest);
}

/** Returns the settings that were accepted since this process has started. */
export function acceptedFiles(): readonly PresentFile[] {
  return [...accepted.values()];
}

function presentAt(path: string, status: BigIntStats): readonly PresentFile[] {
  if (status.isSymbolicLink()) {
    return [{ path, mode: '120000', ...namesOf(readlinkSync(path, 'buffer')) }];
  }
  if (!status.isFile() || status.size > LONGEST_BYTES) return [];
  const mode = (status.mode & 0o100n) === 0n ? '100644' : '100755';
  return [{ path, mode, ...namesOf(readFileSync(path)) }];
}

/** Returns the names that git gives to a content. */
function namesOf(content: Uint8Array): { readonly sha1: string; readonly sha256: string } {
  const of = (kind: string) => {
    return createHash(kind).update(`blob ${content.length}\0`).update(content).digest('hex');
  };
  return { sha1: of('sha1'), sha256: of('sha256') };
}
