// Builds the TypeScript: `node scripts/build-ts.mjs [directory]`, by default into dist/.
//
// The exports and programs of package.json are bundled, with shared code in chunks: a hundred small files
// take Node three times as long to load. Code that is not needed at import is in files of its own: see
// bundle/late-parts.mjs. Types stay in one file each.
//
// All code is CommonJS, with entries for `import` beside those for `require()`: see bundle/entries.mjs.
//
// Libraries are bundled as well, since only a tenth of them is used: an install consists of this package
// and its binaries. A list of the libraries' licences is beside the bundle.

import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { builtins } from './bundle/builtins.mjs';
import { addCommonjsTypes } from './bundle/commonjs-types.mjs';
import { moduleEntries, peersEntry } from './bundle/entries.mjs';
import { atOnce, lateEntries, lateParts } from './bundle/late-parts.mjs';
import { licences } from './bundle/licences.mjs';
import { ownFile } from './bundle/own-file.mjs';
import { keepPublicTypes } from './bundle/public-types.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const directory = resolve(process.argv[2] ?? join(root, 'dist'));

/** @type {string[]} such as `./dist/index.cjs` */
const offered = [
  ...Object.values(manifest.exports).map((target) => target.require?.default ?? target),
  ...Object.values(manifest.bin),
];
const names = offered.flatMap((path) => /^(?:\.\/)?dist\/(.*)\.c?js$/.exec(path)?.[1] ?? []);
/**
 * An adapter must work with the user's own copy of a framework. Optional peers are in `peerDependenciesMeta`
 * alone: pnpm and yarn link them, and npm, which resolves the peers of peers, has nothing to refuse.
 */
const peers = Object.keys(manifest.peerDependenciesMeta);
/** @param {string} id */
const isPeer = (id) => peers.some((name) => id === name || id.startsWith(`${name}/`));

/**
 * @param {string} name
 * @param {readonly string[]} entries of `src`; a module that is in an earlier group stays there
 */
function group(name, entries) {
  const files = entries.map((entry) => join(root, `src/${entry}.ts`));
  return { name: atOnce(files, name), debugName: name };
}

const bundle = await rolldown({
  cwd: root,
  input: {
    ...Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    ...peersEntry,
    ...lateEntries,
  },
  plugins: [ownFile(root), lateParts(root), moduleEntries, builtins, licences(root)],
  platform: 'node',
  external: isPeer,
});
await bundle.write({
  dir: directory,
  cleanDir: true,
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name].cjs',
  // An entry has names only, and these are the same for `import` and `require()`.
  exports: 'named',
  esModule: false,
  // One file for all code that the public face needs at once, one for what is common to all tools, and one for
  // commands in a sandbox, since each further file takes time.
  codeSplitting: {
    groups: [
      group('core', ['index']),
      group('tools', [
        'contracts/call',
        'contracts/notices',
        'contracts/options',
        'receipt/receipt',
      ]),
      group('sandboxed', ['command/after/in-sandbox', 'sandbox/held/list']),
    ],
  },
  // Docstrings are in the types; in the bundle they would only be read at each start.
  comments: false,
});
await bundle.close();

const tsc = join(root, 'node_modules', '.bin', 'tsc');
const flags = ['--emitDeclarationOnly', '--outDir', directory];
// Errors of tsc go to stderr: the caller's stdout may be a list.
execFileSync(tsc, flags, { cwd: root, stdio: ['ignore', 2, 2] });
const typed = Object.values(manifest.exports).flatMap(
  (target) => target.import?.types.replace('./dist/', '') ?? [],
);
keepPublicTypes(directory, typed);
addCommonjsTypes(directory, typed);
for (const program of Object.values(manifest.bin)) {
  chmodSync(join(directory, program.replace(/^dist\//, '')), 0o755);
}
