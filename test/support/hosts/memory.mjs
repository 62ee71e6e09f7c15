// Runs a command, lets what it left behind go on for a while, and tells by how much that made the
// host's memory grow at most.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOwner, run } from '../../../dist/index.js';

const [command = '', options = '{}', afterwardsMs = '0'] = process.argv.slice(2);

/** The largest resident size so far, in bytes. */
function peak() {
  const [, kibibytes] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

await run('seq 1 1000000');
const before = peak();
const owner = createOwner();
const result = await run(command, { ...JSON.parse(options), owner });
await sleep(Number(afterwardsMs));
const grownBy = peak() - before;
await owner.dispose();
console.log(JSON.stringify({ grownBy, result }));
