// A process that has one core and little memory, with all that it starts.
/** @import { Found } from './host.mjs' */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { NotMeasured, needProgram } from '../not-measured.mjs';
import { makeMemoryGroup } from './memory-group.mjs';

const HOST = fileURLToPath(new URL('host.mjs', import.meta.url));

/**
 * @typedef {object} Setting
 * @property {string} program that runs the commands
 * @property {number} count of commands
 * @property {number} limit of commands in flight
 * @property {number} bytes of memory for the host and all of its processes together
 */

/**
 * @typedef {Found & { peakBytes?: number }} Measured `peakBytes`: what they have held together, at most
 */

/** The last core that this process may use: the first ones have most of the interrupts. */
function lastCore() {
  const status = readFileSync('/proc/self/status', 'utf8');
  return /^Cpus_allowed_list:.*?(\d+)$/m.exec(status)?.[1] ?? '0';
}

/** @param {number} bytes */
const scope = (bytes) => [
  ...['systemd-run', '--scope', '--quiet', ...(process.getuid?.() === 0 ? [] : ['--user'])],
  ...['-p', `MemoryMax=${bytes}`, '-p', 'MemorySwapMax=0', '--'],
];

/**
 * Makes bounds for one host.
 * @param {number} bytes
 * @throws {NotMeasured}
 */
function bounds(bytes) {
  needProgram('taskset', "Debian's package util-linux");
  const group = makeMemoryGroup(bytes);
  if (group !== undefined) return group;
  const words = scope(bytes);
  const [file = '', ...args] = words;
  if (spawnSync(file, [...args, 'true'], { stdio: 'ignore' }).status === 0) {
    return { words, peakBytes: () => undefined, end: async () => {} };
  }
  throw new NotMeasured(
    `no control group bounds memory here (root, or systemd's Delegate=memory for the user, makes one)`,
  );
}

/**
 * Runs the commands in a new host within bounds.
 * @param {Setting} setting
 * @returns {Promise<Measured | { died: string }>}
 */
export async function inSmallHost({ program, count, limit, bytes }) {
  const { words, peakBytes, end } = bounds(bytes);
  try {
    const call = [process.execPath, HOST, program, String(count), String(limit)];
    const [file = '', ...args] = [...words, 'taskset', '-c', lastCore(), ...call];
    const host = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [printed, [code, signal]] = await Promise.all([text(host.stdout), once(host, 'exit')]);
    if (code !== 0) return { died: `ended by ${signal ?? code}` };
    const peak = peakBytes();
    return { ...JSON.parse(printed), ...(peak === undefined ? {} : { peakBytes: peak }) };
  } finally {
    await end();
  }
}
