// Types for both kinds of programs: TypeScript takes `.d.ts` beside `"type": "module"` for those of ES modules,
// and `.d.cts` for those of CommonJS. The code is CommonJS, and so are its types; entries for `import` name them.
//
// Adapters have both: the types of a framework's classes differ by how the framework is imported.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const NAMED = /(\b(?:from|import\() ?')(\.[^']+)\.js'/g;
const ADAPTERS = 'adapters/';

/**
 * @param {string} directory The directory of the types, one file each.
 * @param {readonly string[]} offered The entries in it, such as `index.d.ts`.
 */
export function addCommonjsTypes(directory, offered) {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue;
    const path = join(entry.parentPath, entry.name);
    const file = relative(directory, path);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path.replace(/\.d\.ts$/, '.d.cts'), text.replace(NAMED, "$1$2.cjs'"));
    if (file.startsWith(ADAPTERS)) writeFileSync(path, withOthersAsCommonjs(file, text));
    else if (offered.includes(file)) writeFileSync(path, all(entry.name));
    else rmSync(path);
  }
}

/** @param {string} name such as `index.d.ts` */
const all = (name) => `export * from './${name.replace(/\.d\.ts$/, '.cjs')}';\n`;

/**
 * @param {string} file of an adapter
 * @param {string} text
 */
function withOthersAsCommonjs(file, text) {
  return text.replace(NAMED, (whole, before, path) =>
    join(dirname(file), path).startsWith(ADAPTERS) ? whole : `${before}${path}.cjs'`,
  );
}
