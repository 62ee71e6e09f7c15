// Tells the bytes that commands get of variables that the host was started with.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { run } from '../../../dist/index.js';

/** @param {string} command */
async function bytesOf(command) {
  const { output } = await run(`${command} | od -An -v -tx1 | tr -d ' \\n'`);
  return output.kind === 'complete' ? output.text : '';
}

async function show() {
  const [first, second] = [await bytesOf('printf %s "$CASE"'), await bytesOf('printf %s "$OTHER"')];
  return `CASE=${first} OTHER=${second}`;
}

if (isMainThread) {
  const decoded = process.env.CASE ?? '';
  const first = await show();
  process.env.CASE = 'new';
  const changed = await show();
  process.env.CASE = decoded;
  const back = await show();
  delete process.env.CASE;
  const deleted = await show();
  const [worker] = await once(new Worker(new URL(import.meta.url)), 'message');
  console.log(JSON.stringify({ first, changed, back, deleted, worker }));
} else {
  process.env.CASE = 'own';
  parentPort?.postMessage(await show());
}
