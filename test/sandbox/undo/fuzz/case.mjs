// One case: a tree, what is in it, and a command that changes it.
import { join } from 'node:path';
import { commandFor } from './command.mjs';
import { gitStep, makeRepository } from './git.mjs';
import { randomFrom } from './random.mjs';
import { differences } from './trees.mjs';

/** @typedef {import('./trees.mjs').Tree} Tree */
/** @typedef {ReturnType<typeof import('./trees.mjs').startTrees>} Trees */

/**
 * @typedef {object} Case
 * @property {string} path The tree.
 * @property {string} cwd The command's directory, which is in the tree.
 * @property {Tree} before
 * @property {string} command
 * @property {ReturnType<typeof randomFrom>} random
 */

/**
 * Makes the tree of a case, and its command.
 *
 * @param {Trees} trees
 * @param {string} folder
 * @param {number} seed
 * @param {{ user?: number | undefined, most?: number | undefined }} [options] Whose the tree is, and the most steps.
 * @returns {Promise<Case>}
 */
export async function makeCase(trees, folder, seed, { user, most = 6 } = {}) {
  const random = randomFrom(seed);
  const path = join(folder, `case-${seed}`);
  const cwd = join(path, 'work');
  await trees.make(cwd, seed, user);
  const isRepository = random.oneIn(8);
  if (isRepository) makeRepository(cwd, user);
  const before = await trees.look(path);
  const inside = below(before, 'work');
  const command = isRepository
    ? commandFor(random, inside, most, gitStep)
    : commandFor(random, inside, most);
  return { path, cwd, before, command, random };
}

/**
 * A part of a tree, by paths in it.
 *
 * @param {Tree} tree
 * @param {string} directory
 * @returns {Tree}
 */
function below(tree, directory) {
  const begin = `${directory}/`;
  const found = Object.entries(tree).filter(([path]) => path.startsWith(begin));
  return Object.fromEntries(found.map(([path, entry]) => [path.slice(begin.length), entry]));
}

/**
 * What a revert has not put back, as lines.
 *
 * @param {Trees} trees
 * @param {Case} one
 * @param {import('../../../../src/index.js').Reverted} reverted
 */
export async function faultsAfter(trees, { path, before }, { conflicts, lost }) {
  const told = [...conflicts.map((it) => ['conflict', it]), ...lost.map((it) => ['lost', it])];
  const lines = differences(before, await trees.look(path));
  return [...told.map(([word, it]) => `${word}: ${JSON.stringify(it)}`), ...lines];
}
