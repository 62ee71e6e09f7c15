import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

let own: NodeJS.Require | undefined;

/** Returns a `require()` that finds modules as a file of this package does. */
export function ownRequire(): NodeJS.Require {
  own ??= createRequire(ownFiles()[0] ?? process.execPath);
  return own;
}

/**
 * Returns the files in whose directories this package's binaries can be, the likeliest first: the file with
 * this code, the program's main file, and the executable. A bundler that makes one file of a program may
 * leave nothing of the first, or a path of the machine where the bundle was made.
 */
export function ownFiles(): readonly string[] {
  const own: string | undefined = import.meta.url;
  const files = [own, process.argv[1], process.execPath];
  return files.filter((file) => file !== undefined && isThere(file)) as readonly string[];
}

function isThere(file: string): boolean {
  try {
    return existsSync(file.startsWith('file:') ? new URL(file) : file);
  } catch {
    return false;
  }
}
