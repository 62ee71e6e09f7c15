import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isAmong } from '../paths.js';

/** The kernel's own limit: a path with more links is a circle. */
const MOST_LINKS = 40;

/** The target of a path. */
interface Followed {
  /** The path without links. Parts that do not exist stay as they are written. */
  readonly real: string;
  readonly exists: boolean;
  /** Real paths of the links that were followed. */
  readonly links: readonly string[];
}

/**
 * Follows an absolute path, link by link.
 *
 * @returns Undefined for a path in a circle, or through something that is no directory.
 */
export function follow(path: string): Followed | undefined {
  const left = path.split('/').reverse();
  const links: string[] = [];
  let [real, exists] = ['/', true];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      real = join(real, '..');
      continue;
    }
    const place = join(real, name);
    const kind = exists ? kindOf(place) : 'missing';
    if (kind === 'unknown') return undefined;
    if (kind === 'link') {
      if (links.push(place) > MOST_LINKS) return undefined;
      const target = readlinkSync(place);
      left.push(...target.split('/').reverse());
      if (target.startsWith('/')) real = '/';
      continue;
    }
    exists = kind === 'other';
    real = place;
  }
  return { real, exists, links };
}

function kindOf(path: string): 'link' | 'other' | 'missing' | 'unknown' {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    return found.isSymbolicLink() ? 'link' : 'other';
  } catch {
    return 'unknown';
  }
}

/**
 * Follows a path that gets a right. A link that commands can have made, since it is where they write,
 * must not lead out of that place.
 *
 * @param writable Where commands write, by real paths.
 * @returns Undefined when such a link leads out, or the path leads nowhere.
 */
export function followTrusted(path: string, writable: Iterable<string>): Followed | undefined {
  const followed = follow(path);
  if (followed === undefined || followed.links.length === 0) return followed;
  const roots = [...writable];
  const isKept = followed.links.every((link) => {
    const around = roots.filter((root) => link !== root && isAmong(link, [root]));
    return around.every((root) => isAmong(followed.real, [root]));
  });
  return isKept ? followed : undefined;
}
