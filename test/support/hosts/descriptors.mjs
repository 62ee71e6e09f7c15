// Uses up its descriptors, has a command ended without any, then gives them back one by one until
// commands can be started again.
import { closeSync, openSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, spawn } from '../../../dist/index.js';

/** @type {number[]} */
const files = [];

/** Opens files until that fails; returns why. */
function fill() {
  for (;;) {
    try {
      files.push(openSync('/dev/null', 'r'));
    } catch (error) {
      return /** @type {NodeJS.ErrnoException} */ (error).code;
    }
  }
}

/** Waits until nobody opens or closes any: after the first command, a keeper is being started. */
async function atRest() {
  let before = 0;
  for (let quiet = 0; quiet < 10; quiet += 1) {
    const now = readdirSync('/proc/self/fd').length;
    if (now !== before) quiet = 0;
    before = now;
    await sleep(20);
  }
}

const stubborn = await spawn("trap '' TERM; setsid sleep 300 & echo ready; sleep 300 & wait", {
  graceMs: 500,
});
for await (const { text } of stubborn) if (text.includes('ready')) break;
await atRest();
const full = fill();
const killed = await stubborn.kill();

/** @type {unknown[]} */
const refusals = [];
let result;
while (result === undefined) {
  try {
    result = await run('echo works', { input: 'x', streams: 'separate' });
  } catch (error) {
    const { name, code, step, message } =
      /** @type {import('../../../dist/index.js').LaunchError} */ (error);
    refusals.push({ name, code, step, message });
    for (const file of files.splice(-1)) closeSync(file);
  }
}
console.log(JSON.stringify({ full, killed: killed.outcome, refusals, result }));
process.stdin.resume();
