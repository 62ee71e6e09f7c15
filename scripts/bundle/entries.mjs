// The package's entries as ES modules. All code is in files of CommonJS, of which every loader has one copy,
// whether it was imported or required: an entry for `import` has the names of the one for `require()`.

/** @import { OutputChunk, Plugin } from 'rolldown' */
import { posix } from 'node:path';

/** The file with the modules of optional peers that ES modules have imported, by their names. */
const PEERS_FILE = 'peers.cjs';

/**
 * @param {(id: string) => boolean} isPeer
 * @returns {Plugin}
 */
export function moduleEntries(isPeer) {
  return {
    name: 'module-entries',
    renderChunk: (code, chunk) => takePeers(code, chunk.fileName, isPeer),
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      this.emitFile({
        type: 'asset',
        fileName: PEERS_FILE,
        source: 'module.exports = new Map();\n',
      });
      for (const chunk of chunks) {
        chunk.code = shortened(chunk.code);
        if (!chunk.isEntry || chunk.fileName.startsWith('parts/')) continue;
        const peers = [...needed(chunk, chunks)].filter(isPeer);
        for (const [fileName, source] of Object.entries(entryOf(chunk, peers))) {
          this.emitFile({ type: 'asset', fileName, source });
        }
      }
    },
  };
}

const GETTER =
  /Object\.defineProperty\(exports, "(\w+)", \{\s+enumerable: true,\s+get: function\(\) \{\s+return ([\w$]+);\s+\}\s+\}\);/g;

/**
 * Exports plain values: no module assigns to what it exports, and hundreds of getters take time.
 * @param {string} code
 */
const shortened = (code) => code.replace(GETTER, 'exports.$1 = $2;');

/**
 * Takes a peer as the user's program has it: as an ES module if this package was imported, else as
 * CommonJS. An object of one is no instance of a class of the other.
 *
 * @param {string} code
 * @param {string} file
 * @param {(id: string) => boolean} isPeer
 */
function takePeers(code, file, isPeer) {
  const peers = relativeTo(file, PEERS_FILE);
  return code.replace(/\brequire\("([@\w/.-]+)"\)/g, (call, name) =>
    isPeer(name) ? `(require("${peers}").get("${name}") ?? ${call})` : call,
  );
}

/**
 * Returns the names of all modules that are loaded with a chunk.
 * @param {OutputChunk} chunk
 * @param {readonly OutputChunk[]} chunks
 */
function needed(chunk, chunks) {
  const names = new Set(chunk.imports);
  // Iteration over a set includes elements that are added on the way.
  for (const name of names) {
    for (const each of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) {
      names.add(each);
    }
  }
  return names;
}

/**
 * Makes the files of an entry, by name: one for loaders and one for bundlers, which can't follow the first.
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
  const names = chunk.exports.length === 0 ? '' : `export const { ${chunk.exports.join(', ')} } = `;
  // Modules are evaluated in the order of imports, so the peers come first.
  const first = peers.length === 0 ? '' : `import '${own}.peers.js';\n`;
  const loaded =
    `import { createRequire } from 'node:module';\n` +
    `${names}createRequire(import.meta.url)('${own}.cjs');\n`;
  const bundled = `import all from '${own}.cjs';\n${names && `${names}all;\n`}`;
  return {
    [`${stem}.js`]: head + first + loaded,
    [`${stem}.bundle.js`]: first + bundled,
    ...(peers.length === 0
      ? {}
      : { [`${stem}.peers.js`]: peersOf(peers, relativeTo(`${stem}.js`, PEERS_FILE)) }),
  };
}

/**
 * @param {readonly string[]} peers
 * @param {string} file
 */
function peersOf(peers, file) {
  return [
    `import peers from '${file}';`,
    ...peers.map((peer, index) => `import * as peer${index} from '${peer}';`),
    ...peers.map((peer, index) => `peers.set('${peer}', peer${index});`),
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
