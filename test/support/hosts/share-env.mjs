// Runs commands for a second while workers that share its environment write it as fast as they can.
import { isMainThread, SHARE_ENV, Worker } from 'node:worker_threads';
import { run } from '../../../dist/index.js';

const UNTIL = performance.now() + 1000;

if (isMainThread) {
  process.env.STEADY = 'yes';
  const workers = [0, 1].map(() => new Worker(new URL(import.meta.url), { env: SHARE_ENV }));
  let commands = 0;
  let wrong = 0;
  while (performance.now() < UNTIL) {
    const { output } = await run('echo $STEADY');
    commands += 1;
    if (output.kind !== 'complete' || output.text !== 'yes\n') wrong += 1;
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  console.log(JSON.stringify({ commands, wrong }));
} else {
  for (let count = 0; ; count += 1) {
    process.env[`FROM_WORKER_${count % 300}`] = 'x'.repeat(count % 2000);
    if (count % 3 === 0) delete process.env[`FROM_WORKER_${(count * 7) % 300}`];
  }
}
