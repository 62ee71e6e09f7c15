// Several worker threads run commands at once; one is terminated in the middle.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { run, spawn } from '../../../dist/index.js';

/** @param {string} task */
function start(task) {
  return new Worker(new URL(import.meta.url), { workerData: task });
}

/** @param {string} name */
async function echoes(name) {
  const all = Array.from({ length: 50 }, (_, index) => run(`echo ${name} ${index}`));
  const results = await Promise.all(all);
  return results.every(({ output }, index) => {
    return output.kind === 'complete' && output.text === `${name} ${index}\n`;
  });
}

async function main() {
  const workers = ['a', 'b', 'c', 'd'].map(start);
  const doomed = start('doomed');
  const answers = Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  const [pid] = await once(doomed, 'message');
  const terminated = await doomed.terminate();
  const own = await echoes('main');
  console.log(JSON.stringify({ answers: await answers, own, pid, terminated }));
  process.stdin.resume();
}

async function doomed() {
  const live = await spawn('trap "" TERM; setsid sleep 300 & sleep 300 & echo ready; wait');
  for await (const { text } of live) if (text.includes('ready')) break;
  parentPort?.postMessage(live.pid);
}

if (isMainThread) await main();
else if (workerData === 'doomed') await doomed();
else parentPort?.postMessage(await echoes(workerData));
