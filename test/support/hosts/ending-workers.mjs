// Ends workers while their first tool is called, and says how many descriptors it has before and after.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

const entry = new URL('../../../dist/index.js', import.meta.url);
const code = `
  import(${JSON.stringify(entry.href)}).then(({ createBashTool }) => {
    const { parentPort } = require('node:worker_threads');
    parentPort.postMessage('loaded');
    for (const contract of ['workspace', 'modes', 'session', 'plain']) {
      createBashTool({ contract, cwd: '/' }).execute({ command: 'true' }).catch(() => {});
    }
  });`;

/** @param {number} afterMs */
async function end(afterMs) {
  const worker = new Worker(code, { eval: true });
  await once(worker, 'message');
  await sleep(afterMs);
  await worker.terminate();
}

const count = () => readdirSync('/proc/self/fd').length;

await end(50);
const before = count();
for (let afterMs = 0; afterMs < 10; afterMs += 1) await Promise.all([end(afterMs), end(afterMs)]);
const until = performance.now() + 10_000;
while (count() > before && performance.now() < until) await sleep(50);
console.log(JSON.stringify({ before, after: count() }));
