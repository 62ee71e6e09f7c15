// One case: a command's changes are held and accepted, and then all is outside as the command saw it.
import { chownSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeCase } from '../../undo/fuzz/case.mjs';
import { startHost } from '../../undo/fuzz/hosts.mjs';
import { DIRECTORY, differences } from '../../undo/fuzz/trees.mjs';

/** @typedef {import('../../undo/fuzz/hosts.mjs').Host} Host */
/** @typedef {import('../../undo/fuzz/trees.mjs').Tree} Tree */
/** @typedef {ReturnType<typeof import('../../undo/fuzz/trees.mjs').startTrees>} Trees */

/**
 * Where cases are tried.
 *
 * @typedef {object} Place
 * @property {Trees} trees
 * @property {string} work
 * @property {string} state
 * @property {number | undefined} user
 * @property {Host} host
 */

const SCRIPT = fileURLToPath(new URL('host.mjs', import.meta.url));
const FILE = '0o100000';
const ATTEMPTS = 3;
/** What is told of a case in which something could not be seen, and the changes say so. */
export const TOLD = 'told as incomplete';

/** @param {string} state @param {number | undefined} user */
export const startHolder = (state, user) => startHost(state, user, SCRIPT);

/**
 * What is wrong after a command, as lines.
 *
 * @param {Place} place
 * @param {number} seed
 * @param {number} kills How often the process that accepts is killed before one may end.
 * @returns {Promise<string[]>}
 */
export async function faultsOf(place, seed, kills) {
  const { trees, work, user } = place;
  const one = await makeCase(trees, work, seed, { user });
  if (user !== undefined) chownSync(one.path, user, user);
  const before = await trees.look(one.path);
  const env = { PATH: process.env.PATH };
  const sandbox = { mode: 'workspace-write', workspace: one.path, changes: 'hold' };
  const options = { cwd: one.cwd, sandbox, timeoutMs: 1500, env };
  const request = { command: one.command, options, look: one.path };
  const told = await place.host.ask(request);
  const lines = told?.answer
    ? await acceptedFaults(place, { ...one, before }, told.answer, kills)
    : [];
  if (told?.answer === undefined) lines.push(`run: ${told?.error}`);
  await trees.drop(one.path);
  return lines.length > 0 ? [`seed ${seed}`, one.command, ...lines] : [];
}

/**
 * @param {Place} place
 * @param {Awaited<ReturnType<typeof makeCase>>} one
 * @param {any} held
 * @param {number} kills
 */
async function acceptedFaults(place, { path, before, random }, { changes, seen, unseen }, kills) {
  // A directory that its owner may not enter: nothing is compared there, and it is told.
  if (unseen !== undefined || !changes.complete) return changes.complete ? [] : [TOLD, unseen];
  // An ordinary user changes modes to look, which is a change outside.
  const isRoot = process.getuid?.() === 0;
  const now = isRoot ? await place.trees.look(path) : before;
  const lines = differences(before, now).map((it) => `early: ${it}`);
  if (changes.id === undefined) return lines;
  for (let left = kills; left > 0; left -= 1) {
    const accepting = place.host.ask({ accept: changes.id });
    await sleep(random.below(12));
    place.host.kill();
    await accepting;
    place.host = startHolder(place.state, place.user);
  }
  const { conflicts, error, cannotBeNamed } = await acceptAll(place.host, changes.id);
  if (error !== undefined) lines.push(`accept: ${error}`);
  lines.push(...conflicts.map((/** @type {any} */ it) => `conflict: ${JSON.stringify(it)}`));
  if (cannotBeNamed) return lines;
  return [...lines, ...differences(taken(seen), taken(await place.trees.look(path)))];
}

/** Accepts all, and then by its path what is accepted by itself alone. @param {Host} host @param {string} id */
async function acceptAll(host, id) {
  /** @type {string[] | undefined} */
  let paths;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const told = await host.ask({ accept: id, paths });
    const { answer, error = 'it has ended' } = told ?? {};
    if (answer === undefined) return { conflicts: [], error };
    const { conflicts, heldBack } = answer;
    const held = /** @type {{ path: string }[]} */ (heldBack);
    paths = held.map((it) => it.path);
    const cannotBeNamed = paths.some((path) => path.includes('\ufffd'));
    if (cannotBeNamed) return { conflicts, cannotBeNamed };
    if (conflicts.length > 0 || heldBack.length === 0) return { conflicts };
  }
  return { conflicts: [] };
}

/**
 * What of a tree is accepted: not the times of links, nor which names one file has, which layers do not keep, nor rights
 * of other users.
 *
 * @param {Tree} tree
 */
function taken(tree) {
  const found = /** @type {Tree} */ ({});
  for (const [path, entry] of Object.entries(tree)) {
    // Made by this process, which may be another user.
    if (path === '.') continue;
    const { time, first: _, links: __, ...rest } = entry;
    const kept = entry.target === undefined && time !== undefined ? { ...rest, time } : rest;
    const never = entry.kind === DIRECTORY ? 0o4000 : 0o6000;
    // An accept that is killed may leave a file readable to its owner who may not read it.
    const read = entry.kind === FILE ? 0o400 : 0;
    const mode = `0o${((Number(entry.mode) & ~never) | read).toString(8)}`;
    found[path] = { ...kept, mode, blocks: 0 };
  }
  return found;
}
