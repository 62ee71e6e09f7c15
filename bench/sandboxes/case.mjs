// One case of one machine: `node bench/sandboxes/case.mjs MACHINE CASE` prints its verdict as JSON. With
// the case `hold` it starts a process and waits to be killed.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CASES } from './cases.mjs';
import { MACHINES } from './machines.mjs';
import { running, sleeper } from './sleepers.mjs';

const [, , machineName = '', caseName = ''] = process.argv;
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'sandboxes-')));
mkdirSync(join(directory, 'root'));

// A command that no case stops is stopped by its timeout.
const timeoutMs = ['tree', 'stubborn', 'time'].includes(caseName) ? 3000 : 60_000;
const machine = await MACHINES[machineName]?.open(join(directory, 'root'), timeoutMs);
if (machine === undefined) throw new Error(`MACHINE: expected one of ${Object.keys(MACHINES)}`);
if (caseName === 'hold') {
  void machine.run(`${sleeper()} & ${sleeper()}`);
  while (running().length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  console.log('ready');
} else {
  const verdict = await CASES[caseName]?.run(machine, directory).catch((error) => {
    return { kept: false, note: String(error).slice(0, 80) };
  });
  console.log(JSON.stringify(verdict));
  await Promise.race([machine.close(), new Promise((resolve) => setTimeout(resolve, 2000))]);
  rmSync(directory, { recursive: true, force: true });
  process.exit();
}
