import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { run } from '../../../../src/index.js';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { SEED } from '../../../support/properties.js';
import { useScenes } from '../../../support/sandbox.js';
import { faultsAfter, makeCase } from './case.mjs';
import { startTrees, untold } from './trees.mjs';

// Commands made at random, on trees made at random: whatever they do, a revert brings back every bit.
const COMMANDS = 120;
const TIMEOUT_MS = 240_000;

leavesNothingBehind(1);
const scenes = useScenes();
let trees: ReturnType<typeof startTrees>;

beforeAll(() => {
  trees = startTrees();
  for (const name of ['work', 'state']) mkdirSync(join(scenes.path, name), { mode: 0o700 });
  vi.stubEnv('XDG_STATE_HOME', join(scenes.path, 'state'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  trees.end();
});

async function faultsOf(seed: number): Promise<string[]> {
  const folder = join(scenes.path, 'work');
  const one = await makeCase(trees, folder, seed);
  const sandbox = { mode: 'workspace-write', workspace: folder, undo: true } as const;
  const { changes } = await run(one.command, { cwd: one.cwd, sandbox, timeoutMs: 800 });
  if (changes === undefined) return ['no changes were told'];
  const lines: string[] = [];
  // An ordinary user may have lost the right to look, and to get it back is a later change.
  if (process.getuid?.() === 0) {
    const after = await trees.look(one.path);
    const unseen = changes.complete ? [] : changes.unseen;
    lines.push(...unseen, ...untold(one.path, one.before, after, changes.list));
  }
  lines.push(...(await faultsAfter(trees, one, await changes.revert())));
  await trees.drop(one.path);
  return lines.length > 0 ? [`seed ${seed}`, one.command, ...lines] : [];
}

test(
  `${COMMANDS} commands are taken back bit for bit`,
  async () => {
    const faults: string[] = [];
    for (let seed = SEED; seed < SEED + COMMANDS; seed += 1) faults.push(...(await faultsOf(seed)));
    expect(faults).toEqual([]);
  },
  TIMEOUT_MS,
);
