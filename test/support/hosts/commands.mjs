// Runs the commands that it is given: as arguments, or, without any, as lines on stdin.
import { createInterface } from 'node:readline';
import { run } from '../../../dist/index.js';

/** @param {string} request */
async function answer(request) {
  const { command, options } = JSON.parse(request);
  try {
    console.log(JSON.stringify({ result: await run(command, options) }));
  } catch (error) {
    const { name, code, step, message } = /** @type {Error & { code?: string, step?: string }} */ (
      error
    );
    console.log(JSON.stringify({ error: { name, code, step, message } }));
  }
}

const requests = process.argv.slice(2);
for (const request of requests) await answer(request);
if (requests.length === 0) {
  for await (const line of createInterface(process.stdin)) await answer(line);
}
