// A worker thread starts a detached command, and ends while it is asked about a program of it; this thread lives on.
// Its argument: a writable folder.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { detach } from '../../../dist/index.js';

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { workerData: process.argv[2] });
  /** @type {unknown[]} */
  const told = [];
  // Both messages may come in one turn.
  await new Promise((resolve) => {
    worker.on('message', (one) => told.push(one) === 2 && resolve(undefined));
  });
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
  // A detached task keeps no thread alive, and the question may come after this.
  setInterval(() => {}, 60_000);
}
