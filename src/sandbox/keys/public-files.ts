import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reachableDirectories } from '../../support/directories/reachable.js';
import { followTrusted } from '../pins/follow.js';
import { identityOf } from '../pins/identity.js';

/** Names in `~/.ssh` that tell servers and public keys, besides `*.pub`. */
const PUBLIC_NAMES: readonly string[] = ['known_hosts', 'known_hosts2', 'config'];
/** A private key of OpenSSH, of OpenSSL or of ssh.com, whatever stands around it, and one of PuTTY. */
const PRIVATE = /PRIVATE KEY|Private-Lines:|b3BlbnNzaC1rZXktdjE/i;
/** Lines of public keys: `ssh-ed25519 AAAA…`; and the first line of one in another format. */
const PUBLIC_LINE = /^\s*(?:$|#|(?:ssh|ecdsa|sk)-[\w@.-]+\s+AAAA)/;
const PUBLIC_BLOCK = /^-{4,5} ?BEGIN (?:SSH2 |RSA )?PUBLIC KEY/;
/** Files in such a directory are few and small. */
const MOST_FILES = 1000;
const MOST_BYTES = 1024 * 1024;

/** Whether a file is public, by its path and identity. */
const judged = new Map<string, boolean>();
const MOST_JUDGED = 4096;

/**
 * Returns the files in `~/.ssh` that commands may read: those of the user alone that are no link, and have
 * no private key in them, whatever their name says; of `*.pub` those that have public keys alone.
 */
export function publicSshFiles(home: string): readonly string[] {
  const found = followTrusted(join(home, '.ssh'), reachableDirectories());
  if (found === undefined || !found.exists) return [];
  const isNamed = (name: string) => PUBLIC_NAMES.includes(name) || name.endsWith('.pub');
  return namesIn(found.real)
    .filter(isNamed)
    .slice(0, MOST_FILES)
    .map((name) => join(found.real, name))
    .filter(isPublicFile);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function isPublicFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > MOST_BYTES) return false;
  const key = `${path}\0${identityOf(path)}\0${found.mtimeMs}\0${found.size}`;
  const known = judged.get(key);
  if (known !== undefined) return known;
  const text = textOf(path);
  const is = !PRIVATE.test(text) && (!path.endsWith('.pub') || hasPublicKeysAlone(text));
  judged.set(key, is);
  const [oldest] = judged.keys();
  if (judged.size > MOST_JUDGED && oldest !== undefined) judged.delete(oldest);
  return is;
}

function hasPublicKeysAlone(text: string): boolean {
  return PUBLIC_BLOCK.test(text) || text.split('\n').every((line) => PUBLIC_LINE.test(line));
}

/** A file that this process can't read, commands can't read either. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
