// Runs a command many times, some at once, and tells what that left behind.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../../dist/index.js';

const [command = '', total = '0', atOnce = '0'] = process.argv.slice(2);

/** How much of everything that must not grow there is. */
function inventory() {
  const children = readdirSync('/proc').filter((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === process.pid;
    } catch {
      return false;
    }
  });
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    threads: readdirSync('/proc/self/task').length,
    children: children.length,
  };
}

/** @type {Record<string, number>} */
const outcomes = {};
let left = Number(total);
async function worker() {
  while (left > 0) {
    left -= 1;
    const { outcome, output } = await run(command);
    const key = JSON.stringify([outcome, output.kind === 'complete' && output.text]);
    outcomes[key] = (outcomes[key] ?? 0) + 1;
  }
}

// The keeper comes with the first command, and Node opens what it needs when it needs it.
for (let count = 0; count < 20; count += 1) await run(command);
await sleep(200);
const before = inventory();
await Promise.all(Array.from({ length: Number(atOnce) }, worker));
let after = inventory();
// Cradles that nobody needs any more go within some seconds, and their channels with them.
for (let count = 0; count < 100 && after.descriptors > before.descriptors; count += 1) {
  await sleep(100);
  after = inventory();
}
console.log(JSON.stringify({ outcomes, before, after }));
