// A worker thread starts a detached command, and ends while it is asked about a program of it; this thread lives on.
// Its argument: a writable folder.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { detach } from '../../../dist/index.js';

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { workerData: process.argv[2] });
  const told = [await once(worker, 'message'), await once(worker, 'message')].flat();
  await worker.terminate();
  console.log(JSON.stringify({ id: told.find((one) => one !== 'asked') }));
  setInterval(() => {}, 60_000);
} else {
  const rule = { program: 'env', argv: ['asked'], answer: /** @type {const} */ ('ask') };
  const task = await detach('env echo asked; echo after', {
    cwd: workerData,
    sandbox: { mode: 'workspace-write', exec: { rules: [rule] } },
    onExec: () => {
      parentPort?.postMessage('asked');
      return new Promise(() => {});
    },
  });
  parentPort?.postMessage(task.id);
}
