// P24: what it costs that a command's changes can be taken back.
/** @import { Suite, Task } from '../lib/types.d.ts' */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atMost, figureRow, milliseconds, ratioRow, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { loadForkline } from '../peers/forkline.mjs';

const { findChanges, run } = await loadForkline();

/** Packages of 100 files each, as an archive, and a project that takes them. */
const PACKAGES = `mkdir packages project && cd packages
for p in $(seq 30); do
  mkdir -p package/lib && printf '{"name":"p%s","version":"1.0.0"}' $p >package/package.json
  for f in $(seq 99); do printf 'exports.value = "%s %s";\\n' $p $f >package/lib/$f.js; done
  tar czf p$p.tgz package
  deps="$deps\${deps:+,}\\"p$p\\":\\"file:../packages/p$p.tgz\\""
done
cd ../project && printf '{"name":"project","dependencies":{%s}}' "$deps" >package.json
npm install --offline --no-audit --no-fund --ignore-scripts --silent
cd .. && mkdir many && cd many
for d in $(seq 50); do mkdir $d; for f in $(seq 100); do echo "$d $f" >$d/$f; done; done
tar cf ../many.tar .`;

const LINES = [
  {
    name: 'npm ci of 30 packages, 3,000 files',
    before: 'cp ../project/package*.json .',
    command: 'npm ci --offline --no-audit --no-fund --ignore-scripts --silent',
    target: atMost(1.25),
  },
  { name: 'tar x of 5,000 files', before: 'true', command: 'tar xf ../many.tar' },
  { name: 'rm -rf of 5,000 files', before: 'tar xf ../many.tar', command: 'rm -rf *' },
  { name: 'echo hi', before: 'true', command: 'echo hi' },
  { name: 'echo hi >file', before: 'true', command: 'echo hi >file' },
];

/**
 * Each run is in a directory of its own: ext4 makes files slowly for some seconds after others were removed.
 * @param {string} top
 * @param {typeof LINES[number]} line
 * @param {boolean} undo
 * @returns {Task}
 */
const task = (top, { name, before, command }, undo) => ({
  name: titled(name, undo),
  run: async () => {
    const cwd = mkdtempSync(join(top, 'run-'));
    execFileSync('bash', ['-c', before], { cwd });
    const sandbox = /** @type {const} */ ({ mode: 'workspace-write', workspace: top, undo });
    const began = performance.now();
    const { outcome } = await run(command, { cwd, sandbox });
    const took = performance.now() - began;
    if (outcome.kind !== 'exited' || outcome.exitCode !== 0) throw new Error(`${name} failed`);
    return took;
  },
});

/** @param {string} name @param {boolean} undo */
const titled = (name, undo) => `${name}${undo ? ', undo' : ''}`;

/**
 * How long it takes to list the changes of 1,000 files, in a tree of very many.
 * @param {string} top
 * @param {number} directories of 100 files
 */
async function listing(top, directories) {
  const make = `mkdir large && cd large && for d in $(seq ${directories}); do mkdir $d; (cd $d && touch $(seq 100)); done`;
  execFileSync('bash', ['-c', make], { cwd: top });
  const command = 'for f in */7; do echo x >>$f; done; rm -f 1/*; touch 2/new{1..100}';
  const sandbox = /** @type {const} */ ({ mode: 'workspace-write', workspace: top, undo: true });
  const { changes } = await run(command, { cwd: join(top, 'large'), sandbox });
  const began = performance.now();
  const found = await findChanges(changes?.id ?? '');
  return { took: performance.now() - began, count: found.list.length };
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const top = mkdtempSync(join(tmpdir(), 'forkline-bench-'));
    try {
      execFileSync('bash', ['-c', PACKAGES], { cwd: top });
      const tasks = LINES.flatMap((line) => [task(top, line, false), task(top, line, true)]);
      await warmUp(tasks);
      const samples = await interleave(tasks, { rounds: quick ? 3 : 12 });
      const rows = LINES.map(({ name, target }) => {
        const [with_, without] = [samples(titled(name, true)), samples(titled(name, false))];
        return ratioRow({
          id: 'P24',
          what: `${name} in a sandbox whose commands can be taken back, p50`,
          figure: milliseconds(overallMedian(with_)),
          to: `without ${milliseconds(overallMedian(without))}`,
          value: ratio(with_, without),
          ...(target && { target }),
        });
      });
      const { took, count } = await listing(top, quick ? 100 : 1000);
      const listed = figureRow({
        id: 'P24',
        what: `a list of ${count} changes in a tree of ${quick ? '10,000' : '100,000'} files`,
        figure: milliseconds(took),
        value: took,
        target: atMost(100, '≤ 100 ms'),
      });
      return report(
        [...rows, listed],
        samples,
        tasks.map(({ name }) => name),
      );
    } finally {
      rmSync(top, { recursive: true, force: true });
    }
  },
};
