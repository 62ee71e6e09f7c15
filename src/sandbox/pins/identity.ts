import { type BigIntStats, lstatSync } from 'node:fs';

/**
 * Tells what is at a path from whatever else comes to be there: device, inode, and, since numbers of
 * inodes are given again, when it was made.
 *
 * @returns Undefined: there is nothing.
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
