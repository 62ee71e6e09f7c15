// Paths of a tree for commands, as bash and Python have them.
import { DIRECTORY, PIPE } from './trees.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./trees.mjs').Tree} Tree */

const NEW = /** @type {const} */ ([
  ...[
    'n1',
    'n2',
    'n3',
    'new name',
    'new\nline 2',
    '\xfe\x80',
    '-n',
    '#n',
    'a',
    'b',
    'c',
    'file.txt',
  ],
]);

/** @param {string} path Bytes as Latin-1. */
export const inBash = (path) => `$'./${escaped(path)}'`;

/** @param {string} path */
export const inPython = (path) => `b'./${escaped(path)}'`;

/** @param {string} path */
function escaped(path) {
  return path.replace(/[^\w./]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/**
 * Names of a tree, and new ones: as they were before the command, so that some are gone by then.
 *
 * @param {Random} random
 * @param {Tree} tree
 * @param {(path: string) => string} quote
 */
export function namesOf(random, tree, quote) {
  const all = Object.keys(tree).filter((path) => path !== '.');
  const directories = ['.', ...all.filter((path) => tree[path]?.kind === DIRECTORY)];
  // Who opens a pipe waits for somebody who does the same.
  const others = all.filter((path) => ![DIRECTORY, PIPE].includes(tree[path]?.kind ?? ''));
  /** @param {readonly string[]} among */
  const one = (among) => among[random.below(among.length)] ?? 'n1';
  const fresh = () => `${one(directories)}/${random.pick(NEW)}`;
  const kept = [fresh(), fresh()];
  return {
    /** Something that may be there. */
    file: () => quote(random.oneIn(5) ? one(kept) : one(others)),
    directory: () => quote(random.oneIn(8) ? one(kept) : one(directories)),
    any: () => quote(one(all)),
    /** Something that is not there, or was made by a step before. */
    fresh: () => quote(random.oneIn(3) ? one(kept) : fresh()),
  };
}
