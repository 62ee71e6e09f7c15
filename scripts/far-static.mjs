// Checks that the far sides without Node are programs for their kind of processor that need no loader and
// no library. `node scripts/far-static.mjs`, for those in native/prebuilt.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Readelf's names of processors, by Node's names. */
const MACHINES = { x64: 'Advanced Micro Devices X86-64', arm64: 'AArch64' };

const prebuilt = join(dirname(dirname(fileURLToPath(import.meta.url))), 'native', 'prebuilt');

/**
 * @param {string} file
 * @param {string} arch
 * @returns {string | undefined} The fault, if there is one.
 */
function faultOf(file, arch) {
  const args = ['--wide', '--file-header', '--program-headers', '--dynamic', file];
  const read = execFileSync('readelf', args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const [, machine = 'nothing'] = /^ *Machine: *(.*)$/m.exec(read) ?? [];
  const expected = Object.entries(MACHINES).find(([name]) => name === arch)?.[1];
  if (machine !== expected) return `it is for ${machine}`;
  const [needed] = /^ *INTERP .*|.*\(NEEDED\).*/m.exec(read) ?? [];
  return needed === undefined ? undefined : `it is not static: ${needed.trim()}`;
}

const machines = readdirSync(prebuilt).filter((name) => name.startsWith('far-'));
for (const machine of machines) {
  const file = join(prebuilt, machine, 'forkline-far');
  const fault = faultOf(file, machine.split('-').at(-1) ?? '');
  console.log(fault === undefined ? `ok     ${file}` : `FAILED ${file}: ${fault}`);
  if (fault !== undefined) process.exitCode = 1;
}
if (machines.length === 0) throw new Error(`${prebuilt} has no far side without Node`);
