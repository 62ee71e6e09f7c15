// Takes back thousands of commands that were made at random, and whose host, keeper or warden was killed in a third
// of the cases. `node long.mjs [COUNT] [SEED] [USER]`, the last one a number.
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultsAfter, makeCase } from './case.mjs';
import { startHost } from './hosts.mjs';
import { runKilled, VICTIMS } from './kill.mjs';
import { startTrees, untold } from './trees.mjs';

/** @typedef {import('./hosts.mjs').Host} Host */
/** @typedef {import('./case.mjs').Case} Case */

const [count = 10_000, firstSeed = 1, user] = process.argv.slice(2).map(Number);
/** In one of so many cases somebody is killed. */
const KILLED = Number(process.env.FORKLINE_KILLED ?? 3);
const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(isRoot ? '/srv' : homedir(), 'fuzz-undo-'));
const [work, state] = [join(folder, 'work'), join(folder, 'state')];
const journals = join(state, 'forkline/undo');
for (const path of [folder, work, state]) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (user !== undefined) chownSync(path, user, user);
}
const trees = startTrees();
const counts = { commands: 0, changed: 0, host: 0, warden: 0, keeper: 0, revert: 0, faults: 0 };
const sandbox = { mode: 'workspace-write', workspace: work, undo: true };

let host = startHost(state, user);
let reverter = startHost(state, user);

function journalsNow() {
  try {
    // One that was killed at its very beginning has no log, and nothing was changed yet.
    return readdirSync(journals).filter((id) => existsSync(join(journals, id, 'log')));
  } catch {
    return [];
  }
}

/** When a journal was begun. @param {string} id */
function begunAt(id) {
  try {
    const [, at] = /^at\0(\d+)/.exec(readFileSync(join(journals, id, 'about'), 'utf8')) ?? [];
    return Number(at);
  } catch {
    return 0;
  }
}

/** @param {Case} one */
const requestOf = (one) => ({
  command: one.command,
  options: { cwd: one.cwd, sandbox, timeoutMs: 1500, env: { PATH: process.env.PATH } },
});

/** Lets a command end by itself. @param {Case} one @returns {Promise<string[]>} */
async function ended(one) {
  const told = await host.ask(requestOf(one));
  if (told?.answer === undefined) return [`run: ${told?.error}`];
  const { changes } = told.answer;
  const lines = changes.complete
    ? []
    : changes.unseen.map((/** @type {string} */ it) => `unseen: ${it}`);
  lines.push(...untold(one.path, one.before, await trees.look(one.path), changes.list));
  if (changes.id === undefined) return [...lines, ...(await compared(one, undefined))];
  counts.changed += 1;
  const { answer, error } = (await host.ask({ revert: changes.id })) ?? {};
  return [...lines, ...(error === undefined ? [] : [error]), ...(await compared(one, answer))];
}

/** Kills somebody meanwhile. @param {Case} one @returns {Promise<string[]>} */
async function killed(one) {
  const before = new Set(journalsNow());
  const victim = one.random.pick(VICTIMS);
  counts[victim] += 1;
  const result = await runKilled(host, requestOf(one), victim, one.random);
  host = startHost(state, user);
  const told = [`killed: ${victim}`];
  const lines = [];
  // A command whose keeper is killed goes on in another one.
  const made = journalsNow().filter((id) => !before.has(id));
  made.sort((one, other) => begunAt(other) - begunAt(one));
  if (made.length > 0) counts.changed += 1;
  const all = {
    reverted: [],
    conflicts: /** @type {any[]} */ ([]),
    lost: /** @type {any[]} */ ([]),
  };
  for (const id of made) {
    const killAfterMs = one.random.oneIn(6) ? one.random.below(12) : undefined;
    if (killAfterMs !== undefined) told.push(`the revert, after ${killAfterMs} ms`);
    const { answer, error } = await revertedBy(id, killAfterMs);
    if (error !== undefined) lines.push(`revert ${id}: ${error}`);
    all.conflicts.push(...(answer?.conflicts ?? []));
    all.lost.push(...(answer?.lost ?? []));
  }
  lines.push(...(await compared(one, all)));
  const { list: _, ...changes } = result?.answer?.changes ?? { list: [] };
  told.push(`journals: ${made}`, `changes: ${JSON.stringify(changes)}`);
  return lines.length > 0 ? [told.join(', '), ...lines] : [];
}

/**
 * Reverts in another process, which may be killed meanwhile; then another one does it again.
 *
 * @param {string} id
 * @param {number | undefined} killAfterMs
 */
async function revertedBy(id, killAfterMs) {
  if (killAfterMs !== undefined) {
    counts.revert += 1;
    const asked = reverter.ask({ revert: id });
    await sleep(killAfterMs);
    reverter.kill();
    await asked;
    reverter = startHost(state, user);
  }
  return (await reverter.ask({ revert: id })) ?? { error: 'the process has ended' };
}

/** @param {Case} one @param {any} reverted */
function compared(one, reverted) {
  return faultsAfter(trees, one, reverted ?? { reverted: [], conflicts: [], lost: [] });
}

const begun = Date.now();
for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
  const isKilled = seed % KILLED === 0;
  const one = await makeCase(trees, work, seed, { user, most: isKilled ? 14 : 6 });
  const before = new Set(journalsNow());
  const lines = await (isKilled ? killed(one) : ended(one));
  counts.commands += 1;
  const made = journalsNow().filter((id) => !before.has(id));
  if (lines.length > 0) {
    counts.faults += 1;
    console.log([`seed ${seed}`, one.command, ...lines].join('\n'));
  }
  for (const id of made) rmSync(join(journals, id), { recursive: true, force: true });
  await trees.drop(one.path);
  if (counts.commands % 500 === 0) console.log(JSON.stringify(counts));
}
await Promise.all([host.end(), reverter.end()]);
trees.end();
rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
const seconds = Math.round((Date.now() - begun) / 1000);
const { commands, changed, faults } = counts;
console.log(
  `${commands} commands in ${seconds} s, of which ${changed} changed something; killed: host ${counts.host}, ` +
    `warden ${counts.warden}, keeper ${counts.keeper}, revert ${counts.revert}; not as before: ${faults}`,
);
process.exitCode = faults > 0 ? 1 : 0;
