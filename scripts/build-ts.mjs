// Builds the TypeScript: `node scripts/build-ts.mjs [directory]`, into dist/ unless told.
//
// What package.json offers (its exports and programs) is bundled, with what they share in chunks:
// a hundred small files take Node three times as long to load. What is not needed at import is in
// files of its own: see late-parts.mjs. Types stay a file each.
//
// Libraries are bundled as well, whose parts that are used are a tenth of them: an install brings
// nothing but this package and its binaries. A list of their licences lies beside the bundle.

import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { builtinsUnlisted } from './builtins-unlisted.mjs';
import { atOnce, lateEntries, lateParts } from './late-parts.mjs';
import { licences } from './licences.mjs';
import { keepPublicTypes } from './public-types.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const directory = resolve(process.argv[2] ?? join(root, 'dist'));

/** @type {string[]} such as `./dist/index.js` */
const offered = [
  ...Object.values(manifest.exports).map((target) => target.default ?? target),
  ...Object.values(manifest.bin),
];
const names = offered.flatMap((path) => /^(?:\.\/)?dist\/(.*)\.js$/.exec(path)?.[1] ?? []);
/** What a user has of a framework is the one that an adapter must work with. */
const peers = Object.keys(manifest.peerDependencies);
/** @param {string} id */
const isPeer = (id) => peers.some((name) => id === name || id.startsWith(`${name}/`));

const bundle = await rolldown({
  cwd: root,
  input: { ...Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])), ...lateEntries },
  plugins: [lateParts(root), builtinsUnlisted, licences(root)],
  platform: 'node',
  external: isPeer,
});
await bundle.write({
  dir: directory,
  cleanDir: true,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  // One file for all that the face needs at once: each further one takes its time.
  codeSplitting: {
    groups: [{ name: atOnce(join(root, 'src/index.ts'), 'core'), debugName: 'core' }],
  },
  // They are in the types; here they would only be read again at each start.
  comments: false,
});
await bundle.close();

const tsc = join(root, 'node_modules', '.bin', 'tsc');
const flags = ['--emitDeclarationOnly', '--outDir', directory];
// Its errors go to stderr: a caller's stdout may be a list.
execFileSync(tsc, flags, { cwd: root, stdio: ['ignore', 2, 2] });
keepPublicTypes(
  directory,
  Object.values(manifest.exports).flatMap(({ types }) => types?.replace('./dist/', '') ?? []),
);
for (const program of Object.values(manifest.bin)) {
  chmodSync(join(directory, program.replace(/^dist\//, '')), 0o755);
}
