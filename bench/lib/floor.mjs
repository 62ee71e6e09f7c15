// The floor addon with the environment and the shell that the peers use too. A suite that imports it is not
// measured where the floor could not be built.
import { createRequire } from 'node:module';
import { FLOOR_FILE, whyNotBuilt } from './build-floor.mjs';
import { NotMeasured } from './not-measured.mjs';

/**
 * posix_spawn with two pipes, forkline_launch with one, or the latter by another process.
 * @typedef {'spawn' | 'launch' | 'cradle'} Way
 */
/** @typedef {{ file: string, args: string[], env: string[] }} Program */
/**
 * @typedef {object} Addon
 * @property {(way: Way, program: Program, iterations: number) => Float64Array} latency
 * @property {(way: Way, program: Program) => Promise<void>} awaited
 * @property {(way: Way, programs: Program[], count: number, inFlight: number) => number} throughput
 * @property {(way: Way, program: Program, path?: string) => { ns: number, bytes: number }} drain
 * @property {(program: Program, count: number) => number} killGroup
 * @property {() => void} adoptOrphans
 * @property {(atMostMs: number) => void} awaitOrphans
 */

/**
 * @returns {Addon}
 * @throws {NotMeasured}
 */
function load() {
  const reason = whyNotBuilt();
  if (reason !== undefined) throw new NotMeasured(`the floor is not built: ${reason}`);
  return createRequire(import.meta.url)(FLOOR_FILE);
}

const addon = load();
const NS_PER_MS = 1e6;

/**
 * @param {string} command
 * @returns {Program}
 */
const bash = (command) => ({
  file: '/bin/bash',
  args: ['bash', '-c', command],
  // The suite's own environment, which every peer passes on unchanged.
  env: Object.entries(process.env).map(([name, value]) => `${name}=${value}`),
});

/**
 * Milliseconds from the start of a command until it is reaped.
 * @param {Way} way
 * @param {string} command
 */
export const latency = (way, command) =>
  (addon.latency(way, bash(command), 1)[0] ?? Number.NaN) / NS_PER_MS;

/**
 * The same on a thread of Node's pool, which resolves a promise.
 * @param {Way} way
 * @param {string} command
 */
export const awaited = (way, command) => addon.awaited(way, bash(command));

/**
 * Milliseconds for all `count` commands.
 * @param {Way} way
 * @param {string} command
 * @param {number} count
 * @param {number} inFlight
 */
export const throughput = (way, command, count, inFlight) =>
  addon.throughput(way, [bash(command)], count, inFlight) / NS_PER_MS;

/**
 * The same for these commands, each once.
 * @param {readonly string[]} commands
 * @param {number} inFlight
 */
export const throughputOf = (commands, inFlight) =>
  addon.throughput('launch', commands.map(bash), commands.length, inFlight) / NS_PER_MS;

/**
 * Milliseconds to read a command's output to the end, and to write it to a file where one is named.
 * @param {Way} way
 * @param {string} command
 * @param {number} bytes what the command prints
 * @param {string} [path]
 */
export function drain(way, command, bytes, path) {
  const drained = addon.drain(way, bash(command), path);
  if (drained.bytes !== bytes) throw new Error(`the floor read ${drained.bytes} of ${bytes} bytes`);
  return drained.ns / NS_PER_MS;
}

/**
 * Milliseconds from SIGKILL to a group until all of its `count` members are reaped.
 * @param {string} command
 * @param {number} count
 */
export const killGroup = (command, count) => addon.killGroup(bash(command), count) / NS_PER_MS;

/** Makes this process the new parent of descendants whose parent ends. */
export const adoptOrphans = () => addon.adoptOrphans();

/**
 * Waits for all children, so that their CPU time counts as this process's. Node itself may have no
 * children.
 * @param {number} atMostMs
 */
export const awaitOrphans = (atMostMs) => addon.awaitOrphans(atMostMs);
