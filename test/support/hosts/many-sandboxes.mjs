// Runs commands in more sandboxes than can stand, in argument 1; prints how many descriptors it has open
// with as many as can, and how many after as many others.

import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../../dist/index.js';

const [, , cwd] = process.argv;
const open = () => readdirSync('/proc/self/fd').length;
let count = 0;

async function make() {
  for (const last = count + 40; count < last; count += 1) {
    const network = { allowedDomains: [`${count}.example`] };
    await run('true', { cwd, sandbox: { network } });
  }
}

/**
 * Waits until no more are open than that, if it comes to be.
 *
 * @param {number} wanted
 */
async function settled(wanted) {
  for (let tries = 0; tries < 50 && open() > wanted; tries += 1) await sleep(100);
  return open();
}

await make();
const before = await settled(0);
await make();
console.log(JSON.stringify([before, await settled(before)]));
