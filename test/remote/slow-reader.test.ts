import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect } from '../../src/remote/index.js';
import { FAR_SIDE } from '../support/far.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { exited } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const FLOOD = 'head -c 100000000 /dev/zero | tr "\\0" x';
const MOST_GROWTH = 48 * 1024 * 1024;

function residentBytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

/** A far side of which the pid is known, warm. */
async function start() {
  const file = folder.file('pid');
  const far = await connect({
    command: ['bash', '-c', `echo $$ >${file}; exec "$@"`, 'bash', ...FAR_SIDE],
  });
  await far.run('head -c 10000000 /dev/zero', { onOutput: () => {} });
  return { far, pid: Number(readFileSync(file, 'utf8')) };
}

test.each(['drop', 'pause'] as const)(
  '100 MB to a slow reader do not fill the memory of either side: %s',
  async (overflow) => {
    const { far, pid } = await start();
    const before = { far: residentBytes(pid), near: process.memoryUsage.rss() };
    const live = await far.spawn(FLOOD, { encoding: 'bytes', overflow });
    let bytes = 0;
    let reads = 0;
    const most = { far: 0, near: 0 };
    for await (const chunk of live) {
      bytes += chunk.bytes.length + chunk.droppedBytes;
      reads += 1;
      if (reads % 20 === 1) {
        await sleep(20);
        most.far = Math.max(most.far, residentBytes(pid));
        most.near = Math.max(most.near, process.memoryUsage.rss());
      }
    }
    expect((await live.result).outcome).toEqual(exited(0));
    expect(bytes).toBe(100_000_000);
    expect(most.far - before.far).toBeLessThan(MOST_GROWTH);
    expect(most.near - before.near).toBeLessThan(MOST_GROWTH);
    await far.dispose();
  },
);

test('a command waits for a reader that takes nothing, and goes on when it leaves', async () => {
  const { far, pid } = await start();
  const before = residentBytes(pid);
  const live = await far.spawn(`${FLOOD}; echo done >&2`, { overflow: 'pause' });
  await sleep(500);
  expect(residentBytes(pid) - before).toBeLessThan(MOST_GROWTH);
  expect(await live.snapshot()).toBeDefined();
  for await (const _ of live) break;
  expect((await live.result).outcome).toEqual(exited(0));
  await far.dispose();
});
