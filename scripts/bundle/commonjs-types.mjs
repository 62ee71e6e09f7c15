// The types of the same files for programs in CommonJS: TypeScript takes `.d.ts` beside `"type": "module"`
// for those of ES modules.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NAMED = /(\b(?:from|import\() ?'\.[^']+)\.js'/g;

/** @param {string} directory The directory of the types, one file each. */
export function addCommonjsTypes(directory) {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8').replace(NAMED, "$1.cjs'");
    writeFileSync(path.replace(/\.d\.ts$/, '.d.cts'), text);
  }
}
