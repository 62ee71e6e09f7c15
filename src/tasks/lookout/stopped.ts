import { readFile } from 'node:fs/promises';
import type { BackgroundProcess } from '../../engine/outcome.js';
import { numbersInside } from '../../receipt/inside.js';
import { inBatches } from '../../support/batches.js';

/**
 * Returns those of the processes that are stopped, as by SIGSTOP or Ctrl-Z: SIGCONT lets them go on. Numbers
 * are those by which another command of the same tool knows them, in a sandbox too.
 */
export async function stoppedOf(
  processes: readonly BackgroundProcess[],
): Promise<readonly BackgroundProcess[]> {
  const found = await inBatches(processes, async (process) => {
    const line = await readFile(`/proc/${process.pid}/stat`, 'latin1').catch(() => '');
    // The name before the state may have anything in it. A traced process is `t`.
    if (!line.slice(line.lastIndexOf(')')).startsWith(') T ')) return undefined;
    return { ...process, ...(await numbersInside(process.pid)) };
  });
  return found.filter((process) => process !== undefined);
}
