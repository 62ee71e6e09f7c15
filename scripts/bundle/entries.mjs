// The package's entries as ES modules. All code is in files of CommonJS, of which every loader has one copy,
// whether it was imported or required: an entry for `import` has the names of the one for `require()`.

/** @import { OutputChunk, Plugin } from 'rolldown' */
import { posix } from 'node:path';

/** The file that keeps what ES modules have imported of optional peers, and its source. */
const [PEERS_FILE, PEERS_SOURCE] = ['peers.cjs', 'support/peers/load.ts'];

/** The bundle's entry for it. */
export const peersEntry = { peers: `src/${PEERS_SOURCE}` };

/** @type {Plugin} */
export const moduleEntries = {
  name: 'module-entries',
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
    for (const chunk of chunks) {
      chunk.code = shortened(chunk.code);
      if (!chunk.isEntry || /^(parts\/|peers\.)/.test(chunk.fileName)) continue;
      for (const [fileName, source] of Object.entries(entryOf(chunk, peersIn(chunk, chunks)))) {
        this.emitFile({ type: 'asset', fileName, source });
      }
    }
  },
};

const GETTER =
  /Object\.defineProperty\(exports, "(\w+)", \{\s+enumerable: true,\s+get: function\(\) \{\s+return ([\w$]+);\s+\}\s+\}\);/g;

/**
 * Exports plain values: no module assigns to what it exports, and hundreds of getters take time.
 * @param {string} code
 */
const shortened = (code) => code.replace(GETTER, 'exports.$1 = $2;');

const PEER = /\blatePeer\)?\("([^"]+)"/g;

/**
 * Returns the names of the peers' modules that a chunk and what is loaded with it call.
 * @param {OutputChunk} chunk
 * @param {readonly OutputChunk[]} chunks
 */
function peersIn(chunk, chunks) {
  const loaded = new Set([chunk.fileName]);
  const peers = new Set();
  // Iteration over a set includes elements that are added on the way.
  for (const name of loaded) {
    const { code = '', imports = [] } = chunks.find(({ fileName }) => fileName === name) ?? {};
    for (const each of imports) loaded.add(each);
    for (const [, peer] of code.matchAll(PEER)) peers.add(peer);
  }
  return [...peers];
}

/**
 * Makes the files of an entry, by name: one for loaders and one for bundlers, which can't follow the first. A
 * program, which exports nothing, is only started.
 * `exports` leads Node to the former: of those that know the condition `node-addons`, it alone knows
 * `module-sync`, and Bun has one set of conditions for loading and bundling.
 * An `import` of CommonJS would have Node look for the names in its text, which takes it longer than all
 * else in these files.
 *
 * @param {OutputChunk} chunk
 * @param {readonly string[]} peers
 * @returns {Record<string, string>}
 */
function entryOf(chunk, peers) {
  const stem = chunk.fileName.replace(/\.cjs$/, '');
  const own = `./${posix.basename(stem)}`;
  const [head] = /^#!.*\n/.exec(chunk.code) ?? [''];
  const load = `createRequire(import.meta.url)('${own}.cjs');\n`;
  const createRequire = `import { createRequire } from 'node:module';\n`;
  if (chunk.exports.length === 0) return { [`${stem}.js`]: head + createRequire + load };
  const names = `export const { ${chunk.exports.join(', ')} } = `;
  // Modules are evaluated in the order of imports, so the peers come first.
  /** @param {string} ending */
  const first = (ending) => (peers.length === 0 ? '' : `import '${own}${ending}';\n`);
  const file = relativeTo(`${stem}.js`, PEERS_FILE);
  return {
    [`${stem}.js`]: first('.peers.js') + createRequire + names + load,
    [`${stem}.bundle.js`]: `${first('.peers.bundle.js')}import all from '${own}.cjs';\n${names}all;\n`,
    ...(peers.length > 0 && {
      [`${stem}.peers.js`]: peersForLoaders(peers, file),
      [`${stem}.peers.bundle.js`]: peersForBundlers(peers, file),
    }),
  };
}

/**
 * Imports what is there: the adapter itself says what is missing.
 * @param {readonly string[]} peers
 * @param {string} file
 */
function peersForLoaders(peers, file) {
  return [
    `import { createRequire } from 'node:module';`,
    `const { imported } = createRequire(import.meta.url)('${file}');`,
    ...peers.map(
      (peer) => `await import('${peer}').then((all) => imported.set('${peer}', all), () => {});`,
    ),
    '',
  ].join('\n');
}

/**
 * @param {readonly string[]} peers
 * @param {string} file
 */
function peersForBundlers(peers, file) {
  return [
    `import peers from '${file}';`,
    ...peers.map((peer, index) => `import * as peer${index} from '${peer}';`),
    ...peers.map((peer, index) => `peers.imported.set('${peer}', peer${index});`),
    '',
  ].join('\n');
}

/**
 * @param {string} file
 * @param {string} target
 */
function relativeTo(file, target) {
  const path = posix.relative(posix.dirname(file), target);
  return path.startsWith('.') ? path : `./${path}`;
}
