import { type BigIntStats, lstatSync } from 'node:fs';

/**
 * Identifies a file, so that a later one at the same path can be told from it: by device, inode and,
 * since inode numbers are reused, time of creation.
 *
 * @returns Undefined when there is nothing at the path.
 */
export function identityOf(path: string): string | undefined {
  const found = lookAt(path);
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
