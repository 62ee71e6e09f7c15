import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { SEED } from '../../../support/properties.js';
import { useScenes } from '../../../support/sandbox.js';
import { startTrees } from '../../undo/fuzz/trees.mjs';
import { faultsOf, type Place, startHolder, TOLD } from './case.mjs';

// Commands made at random: once their changes are accepted, all is outside as they saw it inside.
const COMMANDS = 40;
const TIMEOUT_MS = 240_000;

leavesNothingBehind(1);
const scenes = useScenes();
let place: Place;

beforeAll(() => {
  const [work, state] = [join(scenes.path, 'work'), join(scenes.path, 'state')];
  for (const path of [work, state]) mkdirSync(path, { mode: 0o700 });
  const host = startHolder(state, undefined);
  place = { trees: startTrees(), work, state, user: undefined, host };
});
afterAll(async () => {
  await place.host.end();
  place.trees.end();
  // Layers have directories that nobody may write to.
  execFileSync('chmod', ['-R', 'u+rwX', scenes.path]);
});

test(
  `the changes of ${COMMANDS} commands are accepted bit for bit, also by processes that are killed`,
  async () => {
    const faults: string[] = [];
    for (let seed = SEED; seed < SEED + COMMANDS; seed += 1) {
      const lines = await faultsOf(place, seed, seed % 3 === 0 ? 1 + (seed % 2) : 0);
      if (!lines.includes(TOLD)) faults.push(...lines);
    }
    expect(faults).toEqual([]);
  },
  TIMEOUT_MS,
);
