// Leaves of the types those that a user can come to: what the package offers, and what that names.

import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NAMED = /\b(?:from|import\() ?'(\.[^']+)'/g;

/**
 * @param {string} directory of the types, a file each.
 * @param {readonly string[]} offered Files in it, such as `index.d.ts`.
 */
export function keepPublicTypes(directory, offered) {
  const kept = new Set(offered.map((file) => join(directory, file)));
  // A set goes on to what is added meanwhile.
  for (const file of kept) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(NAMED)) {
      kept.add(join(dirname(file), path.replace(/\.js$/, '.d.ts')));
    }
  }
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }).reverse()) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) removeIfEmpty(path);
    else if (path.endsWith('.d.ts') && !kept.has(path)) rmSync(path);
  }
}

/** @param {string} directory */
function removeIfEmpty(directory) {
  if (readdirSync(directory).length === 0) rmdirSync(directory);
}
