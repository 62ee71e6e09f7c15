import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reachableDirectories } from '../../support/directories/reachable.js';
import { followTrusted } from '../pins/follow.js';
import { identityOf } from '../pins/identity.js';

/** Names in `~/.ssh` that tell servers and public keys, besides `*.pub`. */
const PUBLIC_NAMES: readonly string[] = ['known_hosts', 'known_hosts2', 'config'];
/** Files in such a directory are few and small. */
const MOST_FILES = 1000;
const MOST_BYTES = 1024 * 1024;

/** Whether a file has no private key in it, by its path and identity. */
const judged = new Map<string, boolean>();
const MOST_JUDGED = 4096;

/**
 * Returns the files in `~/.ssh` that commands may read: those of the user alone that are no link, and have
 * no private key in them, whatever their name says.
 */
export function publicSshFiles(home: string): readonly string[] {
  const found = followTrusted(join(home, '.ssh'), reachableDirectories());
  if (found === undefined || !found.exists) return [];
  const isPublic = (name: string) => PUBLIC_NAMES.includes(name) || name.endsWith('.pub');
  return namesIn(found.real)
    .filter(isPublic)
    .slice(0, MOST_FILES)
    .map((name) => join(found.real, name))
    .filter(isWithoutKey);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function isWithoutKey(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > MOST_BYTES) return false;
  const key = `${path}\0${identityOf(path)}\0${found.mtimeMs}\0${found.size}`;
  const known = judged.get(key);
  if (known !== undefined) return known;
  const is = !textOf(path).includes('PRIVATE KEY');
  judged.set(key, is);
  const [oldest] = judged.keys();
  if (judged.size > MOST_JUDGED && oldest !== undefined) judged.delete(oldest);
  return is;
}

/** A file that this process can't read, commands can't read either. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
