// P7: the whole output, written to a file as well.
/** @import { Suite, Task } from '../lib/types.d.ts' */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drain } from '../lib/floor.mjs';
import { FLOOR, LAUNCH_FLOOR } from '../lib/floor-tasks.mjs';
import { interleave, warmUp } from '../lib/rounds.mjs';
import { atLeast, ratioRow, ratiosTo, report } from '../lib/rows.mjs';
import { overallMedian, ratio } from '../lib/statistics.mjs';
import { childProcess, execa, forkline, present } from '../peers/index.mjs';

/**
 * Times a copy into a fresh file, which is removed outside the timing and soon enough that most of
 * it never reaches the disk: the file system is measured, not the drive.
 * @param {string} name
 * @param {number} bytes
 * @param {string} directory
 * @param {(path: string) => number | Promise<unknown>} copy
 * @returns {Task}
 */
const task = (name, bytes, directory, copy) => ({
  name,
  run: async () => {
    const path = join(directory, 'output');
    const start = performance.now();
    const own = await copy(path);
    const elapsed = performance.now() - start;
    const written = statSync(path).size;
    rmSync(path);
    if (written !== bytes) throw new Error(`${name} wrote ${written} of ${bytes} bytes`);
    return typeof own === 'number' ? own : elapsed;
  },
});

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const bytes = quick ? 2 ** 26 : 2 ** 28;
    const command = `head -c ${bytes} /dev/zero`;
    const directory = mkdtempSync(join(tmpdir(), 'forkline-bench-'));
    const peers = present([childProcess, execa]);
    const tasks = [
      task(FLOOR, bytes, directory, (path) => drain('spawn', command, bytes, path)),
      task(LAUNCH_FLOOR, bytes, directory, (path) => drain('launch', command, bytes, path)),
      ...[forkline, ...peers].map((peer) =>
        task(peer.name, bytes, directory, (path) => peer.spill(command, path)),
      ),
    ];
    try {
      await warmUp(tasks.slice(0, 3), 1);
      const samples = await interleave(tasks, { rounds: quick ? 4 : 20 });
      /** @param {string} name */
      const speed = (name) => `${(bytes / overallMedian(samples(name)) / 1000).toFixed(0)} MB/s`;
      const others = [LAUNCH_FLOOR, ...peers.map(({ name }) => name)];
      const row = ratioRow({
        id: 'P7',
        what: `drain ${bytes / 2 ** 20} MiB with spill to a file`,
        figure: speed(forkline.name),
        to: `floor ${speed(FLOOR)}`,
        value: ratio(samples(FLOOR), samples(forkline.name)),
        target: atLeast(0.95),
        launchRatio: ratio(samples(LAUNCH_FLOOR), samples(forkline.name)),
        others: ratiosTo(samples, others, FLOOR, 'speed'),
      });
      return report([row], samples, [forkline.name, FLOOR, ...others]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};
