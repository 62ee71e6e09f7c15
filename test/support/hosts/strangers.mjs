// In a small space of numbers: strangers take those that commands have had.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createOwner, run } from '../../../dist/index.js';

writeFileSync('/proc/sys/kernel/pid_max', '400');
const report = { named: 0, ended: 0, strangers: 0 };
for (let round = 0; round < 6; round += 1) {
  const owner = createOwner();
  const results = [];
  for (let count = 0; count < 10; count += 1) results.push(run('sleep 0.05 & exit 0', { owner }));
  const strangers = [];
  for (let count = 0; count < 40; count += 1) {
    const child = spawn('sleep', ['3'], { detached: true, stdio: 'ignore' });
    strangers.push(child);
    report.strangers += 1;
  }
  const pids = new Set(strangers.map(({ pid }) => pid));
  for (const { background } of await Promise.all(results)) {
    report.named += background.filter(({ pid }) => pids.has(pid)).length;
  }
  await owner.dispose();
  for (const child of strangers) {
    if (child.exitCode !== null || child.signalCode !== null) report.ended += 1;
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await ended;
    }
  }
}
console.log(JSON.stringify(report));
