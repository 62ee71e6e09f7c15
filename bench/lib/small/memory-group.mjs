// A control group that bounds the memory of all processes in it. It is made below the own one where the
// kernel and its administrator allow that: as root, or where a group is delegated to the user.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What is written into a new group, in this order. Swap is none of the memory that is measured; a kernel may
 * keep no account of it.
 * @typedef {object} Version
 * @property {(bytes: number) => readonly [file: string, value: number][]} limits
 * @property {string} swap
 * @property {string} peak the file with the most bytes that its processes have held together
 */

/** @type {Version} */
const V2 = {
  limits: (bytes) => [
    ['memory.max', bytes],
    ['memory.swap.max', 0],
  ],
  swap: 'memory.swap.max',
  peak: 'memory.peak',
};

/** @type {Version} */
const V1 = {
  limits: (bytes) => [
    ['memory.limit_in_bytes', bytes],
    ['memory.memsw.limit_in_bytes', bytes],
  ],
  swap: 'memory.memsw.limit_in_bytes',
  peak: 'memory.max_usage_in_bytes',
};

const JOIN = 'echo $$ >"$0/cgroup.procs" && exec "$@"';
const PATIENCE_MS = 10_000;

/**
 * @typedef {object} Group
 * @property {readonly string[]} words that are put before a program and its arguments, which then run in it
 * @property {() => number | undefined} peakBytes undefined: an older kernel does not tell
 * @property {() => Promise<void>} end waits for its processes, kills those that stay, and removes it
 */

/**
 * Makes a group with no more memory than this, of version 2 or else 1.
 * @param {number} bytes
 * @returns {Group | undefined} undefined: none can be made here
 */
export function makeMemoryGroup(bytes) {
  for (const { parent, version } of parents()) {
    const folder = join(parent, `forkline-bench-${process.pid}-${performance.now().toFixed(0)}`);
    if (made(folder, version, bytes)) return groupAt(folder, version);
  }
  return undefined;
}

/** The groups in which one could be made, the own one first. */
function* parents() {
  for (const { root, at, type, options } of mounts()) {
    const version = type === 'cgroup2' ? V2 : V1;
    if (version === V1 && !options.includes('memory')) continue;
    const own = ownGroup(version);
    if (own === undefined) continue;
    const inside = relative(root, own);
    for (let path = inside.startsWith('..') ? '' : inside; ; path = dirname(path)) {
      const parent = join(at, path);
      if (version === V1 || handsOnMemory(parent)) yield { parent, version };
      if (path === '' || path === '.') break;
    }
  }
}

/** @param {string} parent a group of version 2 */
function handsOnMemory(parent) {
  const file = join(parent, 'cgroup.subtree_control');
  return existsSync(file) && readFileSync(file, 'utf8').split(/\s+/).includes('memory');
}

/** The mounted hierarchies, that of version 2 first. */
const mounts = () =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [before = '', after = ''] = line.split(' - ');
      const [, , , root = '', at = ''] = before.split(' ');
      const [type = '', , options = ''] = after.split(' ');
      return type.startsWith('cgroup') ? [{ root, at, type, options: options.split(',') }] : [];
    })
    .sort((one, other) => other.type.localeCompare(one.type));

/** @param {Version} version */
function ownGroup(version) {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const own = lines
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? [])
    .find(([, names = '-']) =>
      version === V2 ? names === '' : names.split(',').includes('memory'),
    );
  return own?.[2];
}

/**
 * Returns whether the group was made, and a process can be put into it.
 * @param {string} folder
 * @param {Version} version
 * @param {number} bytes
 */
function made(folder, version, bytes) {
  try {
    mkdirSync(folder);
  } catch {
    return false;
  }
  try {
    for (const [file, value] of version.limits(bytes)) {
      if (file === version.swap && !existsSync(join(folder, file))) continue;
      writeFileSync(join(folder, file), String(value));
    }
    if (spawnSync('/bin/sh', ['-c', JOIN, folder, 'true']).status === 0) return true;
  } catch {
    // Not ours to write to: the next one is tried.
  }
  rmdirSync(folder);
  return false;
}

/**
 * @param {string} folder
 * @param {Version} version
 * @returns {Group}
 */
const groupAt = (folder, version) => ({
  words: ['/bin/sh', '-c', JOIN, folder],
  peakBytes: () => {
    const file = join(folder, version.peak);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  },
  end: async () => {
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
      if (removed(folder)) return;
      await sleep(20);
    }
    const left = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
    for (const pid of left) process.kill(Number(pid), 'SIGKILL');
    await sleep(1000);
    rmdirSync(folder);
  },
});

/** @param {string} folder */
function removed(folder) {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false; // its processes have not all ended
  }
}
