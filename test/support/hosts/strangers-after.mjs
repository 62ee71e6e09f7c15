// In a small space of numbers: hosts are killed while their commands run, and strangers take the
// numbers that these had, for as long as a keeper may still be ending them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as forkline from '../../../dist/index.js';

// Its groups are empty soon, and its end takes as long as it can.
const COMMAND = `setsid sh -c "trap '' TERM; sleep 30; sleep 30" & sleep 300`;

/** The host: tells the groups of its commands, and waits to be killed. */
async function host() {
  const all = await Promise.all(Array.from({ length: 10 }, () => forkline.spawn(COMMAND)));
  await sleep(100);
  console.log(JSON.stringify(all.map(({ pid }) => pid)));
}

const report = { ended: 0, strangers: 0, reused: 0 };

/** @param {Set<number>} numbers */
async function stranger(numbers) {
  const child = spawn('sleep', ['0.4'], { detached: true, stdio: 'ignore' });
  report.strangers += 1;
  if (numbers.has(Number(child.pid))) report.reused += 1;
  const [code] = await once(child, 'exit');
  if (code !== 0) report.ended += 1;
}

async function killAHost() {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'host'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const numbers = new Set(JSON.parse(line));
  child.kill('SIGKILL');
  await once(child, 'exit');
  // From SIGTERM to SIGKILL it is two seconds.
  const until = Date.now() + 3000;
  const busy = Array.from({ length: 30 }, async () => {
    while (Date.now() < until) await stranger(numbers);
  });
  await Promise.all(busy);
}

if (process.argv[2] === 'host') {
  await host();
} else {
  writeFileSync('/proc/sys/kernel/pid_max', '400');
  // The kernel gives those below 300 once only.
  while (spawnSync('true').pid < 300);
  for (let round = 0; round < 2; round += 1) await killAHost();
  console.log(JSON.stringify(report));
}
