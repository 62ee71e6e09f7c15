// P8: memory does not grow with a command's output.
/** @import { Suite } from '../lib/types.d.ts' */
import { setTimeout as sleep } from 'node:timers/promises';
import { peakResidentBytes, resetPeakResident, residentBytes } from '../lib/proc.mjs';
import { atMost, figureRow, size } from '../lib/rows.mjs';
import { loadForkline } from '../peers/forkline.mjs';
import { childProcess, execa, present } from '../peers/index.mjs';

const CAP = 128 * 1024;
const LIMIT = CAP + 2 ** 20;

/** @param {number} bytes */
const zeros = (bytes) => `head -c ${bytes} /dev/zero`;

/**
 * The highest growth of resident memory while `work` ran.
 * @param {() => Promise<unknown>} work
 */
async function growth(work) {
  globalThis.gc?.();
  await sleep(50);
  const before = residentBytes();
  resetPeakResident();
  await work();
  return peakResidentBytes() - before;
}

/** @type {Suite} */
export const suite = {
  async measure({ quick }) {
    const { run } = await loadForkline();
    const gibibytes = quick ? 1 : 10;
    const peers = present([childProcess, execa]);
    // Code and threads are allocated once and do not grow with output.
    await run('echo hi');
    for (const peer of peers) await peer.run('echo hi');

    const ours = await growth(async () => {
      const { output } = await run(zeros(gibibytes * 2 ** 30), {
        headBytes: CAP / 2,
        tailBytes: CAP / 2,
      });
      if (output.total.bytes !== gibibytes * 2 ** 30) throw new Error('not all of it was read');
    });
    /** @type {Record<string, string>} */
    const others = {};
    for (const peer of peers) {
      others[`${peer.name}, 1 GiB`] = size(await growth(() => peer.drain(zeros(2 ** 30))));
    }
    const row = figureRow({
      id: 'P8',
      what: `resident growth draining ${gibibytes} GiB, caps ${size(CAP)}`,
      figure: size(ours),
      value: ours,
      target: atMost(LIMIT, '≤ caps + 1 MiB'),
      others,
    });
    return { rows: [row], medians: { 'forkline, bytes': [ours] } };
  },
};
