import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns whether `path` is one of `directories` or below one. */
export function isAmong(path: string, directories: readonly string[]): boolean {
  return longestOf(path, directories) >= 0;
}

/** Returns the length of the longest directory that `path` is or is below; -1: none. */
export function longestOf(path: string, directories: readonly string[]): number {
  const above = directories.filter((one) => path === one || path.startsWith(withSlash(one)));
  return Math.max(-1, ...above.map((one) => one.length));
}

/** The root has its slash already. */
function withSlash(directory: string): string {
  return directory.endsWith('/') ? directory : `${directory}/`;
}

/** Returns the paths that exist; one that is created later makes another plan, and so another sandbox. */
export function existing(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter((path) => existsSync(path));
}

/** Returns, for each path that does not exist, the first missing part of it. */
export function missing(paths: readonly string[]): readonly string[] {
  const first = (path: string): string => {
    const parent = dirname(path);
    return existsSync(parent) ? path : first(parent);
  };
  return [...new Set(paths.filter((path) => !existsSync(path)).map(first))];
}

/** Returns whether a path is relative to each writable directory. */
export function isLoose(path: string): boolean {
  return !path.startsWith('/') && path !== '~' && !path.startsWith('~/');
}

/** Parts items into those for which this holds, and the others. */
export function split<Item>(items: readonly Item[], is: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(is), items.filter((item) => !is(item))];
}
