// Thousands of commands that were made at random, whose changes are held and accepted; in a third of the cases the
// process that accepts is killed. `node long.mjs [COUNT] [SEED] [USER]`, the last one a number.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { startTrees } from '../../undo/fuzz/trees.mjs';
import { faultsOf, startHolder, TOLD } from './case.mjs';

const [count = 2_000, firstSeed = 1, user] = process.argv.slice(2).map(Number);
const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(isRoot ? '/srv' : homedir(), 'fuzz-pending-'));
const [work, state] = [join(folder, 'work'), join(folder, 'state')];
for (const path of [folder, work, state]) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (user !== undefined) chownSync(path, user, user);
}
const place = { trees: startTrees(), work, state, user, host: startHolder(state, user) };
let [faults, killed, told] = [0, 0, 0];
const begun = Date.now();
for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
  const kills = seed % 3 === 0 ? 1 + (seed % 2) : 0;
  killed += kills;
  const lines = await faultsOf(place, seed, kills);
  if (lines.length === 0) continue;
  if (lines.includes(TOLD)) {
    told += 1;
    continue;
  }
  faults += 1;
  console.log(lines.join('\n'));
}
await place.host.end();
place.trees.end();
// Trees may be deeper than paths can be long, and closed to an ordinary user.
execFileSync('chmod', ['-R', 'u+rwX', folder]);
execFileSync('rm', ['-rf', folder]);
const seconds = Math.round((Date.now() - begun) / 1000);
console.log(
  `${count} commands in ${seconds} s, ${killed} accepts killed; not as commands saw it: ${faults}, ` +
    `and told as not whole: ${told}`,
);
process.exitCode = faults > 0 ? 1 : 0;
