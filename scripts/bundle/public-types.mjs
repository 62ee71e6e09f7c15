// Keeps only the types that users can reach: those of the package's entry points, and those that they name.

import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NAMED = /\b(?:from|import\() ?'(\.[^']+)'/g;

/**
 * @param {string} directory The directory of the types, one file each.
 * @param {readonly string[]} offered Files in it, such as `index.d.ts`.
 */
export function keepPublicTypes(directory, offered) {
  const kept = new Set(offered.map((file) => join(directory, file)));
  // Iteration over a set includes elements that are added on the way.
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
