// How limits are kept where control groups are of version 2, asked of the built package in the control
// group that this program was put into: see scripts/cgroup-v2.sh. Prints a line of JSON for each check.
//
//     node limits.mjs group|oom-score

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOwner, run, spawn as start } from 'forkline';

const MEMORY = 64 << 20;
const LIMITS = { memoryBytes: MEMORY, processes: 20 };

/** A command that takes this much memory. */
const eat = (/** @type {number} */ bytes) =>
  `/usr/bin/python3 -c 'b = bytearray(${bytes})'; echo $?`;

/** Its own control group, and what is in these files of it. */
const look = (/** @type {string[]} */ ...files) =>
  `cd "/sys/fs/cgroup$(sed 's/^0:://' /proc/self/cgroup)" && cat ${files.join(' ')}`;

/** How many more processes it can start, and the errno of the next one. */
const FORK = `/usr/bin/python3 -c '
import os, signal
started = []
try:
    while len(started) < 100:
        started.append(os.fork() or os._exit(signal.pause()))
except OSError as error: print(len(started), error.errno)
for pid in started: os.kill(pid, 9)'`;

const groupsOf = (/** @type {number | undefined} */ pid) => {
  const find = ['/sys/fs/cgroup', '-ignore_readdir_race', '-name', `forkline-${pid}-*`];
  return execFileSync('find', find, { encoding: 'utf8' }).split('\n').slice(0, -1);
};

/** @param {() => boolean} holds */
async function eventually(holds) {
  for (let waits = 0; waits < 200 && !holds(); waits += 1) await sleep(50);
  return holds();
}

/** @param {import('forkline').RunResult} result */
const textOf = (result) =>
  'output' in result && result.output.kind === 'complete' ? result.output.text : '';

/** What is told of a command: its output, its end, whether memory ran out, and by what limits were kept. */
async function told(
  /** @type {string} */ command,
  /** @type {Parameters<typeof run>[1]} */ options,
) {
  const result = await run(command, options);
  const { outcome, outOfMemory, limits } = result;
  const end = 'signal' in outcome ? outcome.signal : 'exitCode' in outcome && outcome.exitCode;
  return [textOf(result), end, outOfMemory, limits?.memoryBytes];
}

/** @typedef {readonly [expected: unknown, check: () => unknown]} Check */

/** @type {Record<string, Check>} */
const IN_GROUPS = {
  // First: leftovers are looked for once in each place.
  'what a killed host has left goes with the next one': [
    [1, true],
    async () => {
      const host = spawn(process.execPath, [process.argv[1] ?? '', 'host'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(host.stdout, 'data');
      const left = groupsOf(host.pid);
      host.kill('SIGKILL');
      await once(host, 'exit');
      await sleep(1000);
      await run('true', { limits: LIMITS });
      return [left.length, await eventually(() => groupsOf(host.pid).length === 0)];
    },
  ],
  'its files say what was asked for, and that nothing goes to the swap': [
    [`${MEMORY}\n0\n1\n20\n`, 0, undefined, 'group'],
    () =>
      told(look('memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'), {
        limits: LIMITS,
      }),
  ],
  'one that takes more memory is ended whole, and that is proven': [
    ['', 'SIGKILL', 'yes', 'group'],
    () => told(eat(200 << 20), { limits: LIMITS }),
  ],
  'so is one in a sandbox': [
    ['', 'SIGKILL', 'yes', 'group'],
    () => told(eat(200 << 20), { limits: LIMITS, sandbox: 'read-only', cwd: '/' }),
  ],
  'one with enough runs to its end': [
    ['0\n', 0, undefined, 'group'],
    () => told(eat(200 << 20), { limits: { memoryBytes: 512 << 20 } }),
  ],
  'a SIGKILL of its own is not taken for want of memory': [
    ['SIGKILL', false],
    async () => {
      const [, end, outOfMemory] = await told('kill -9 $$', { limits: LIMITS });
      return [end, outOfMemory === 'yes'];
    },
  ],
  'no more processes start than may': [
    [true, true],
    async () => {
      const { outcome, ...result } = await run(FORK, { limits: { processes: 20 } });
      const [count, errno] = textOf({ outcome, ...result })
        .split(' ')
        .map(Number);
      return [(count ?? 0) > 15 && (count ?? 20) < 20, errno === 11];
    },
  ],
  'the group stays for what runs in the background, and goes with it': [
    [1, true],
    async () => {
      const owner = createOwner();
      const live = await start('sleep 60 & echo', { owner, limits: LIMITS });
      await live.result;
      const stayed = groupsOf(process.pid).length;
      await owner.dispose();
      return [stayed, await eventually(() => groupsOf(process.pid).length === 0)];
    },
  ],
};

/** @type {Record<string, Check>} */
const WITHOUT = {
  'a command with a limit of memory has the highest score': [
    ['1000\n', 0, undefined, 'oom-score'],
    () => told('cat /proc/self/oom_score_adj', { limits: { memoryBytes: MEMORY } }),
  ],
  'one that takes all there is is ended, and not this host': [
    ['SIGKILL', 'likely'],
    async () => {
      const [, end, outOfMemory] = await told(`exec ${eat(2 ** 31)}`, {
        limits: { memoryBytes: MEMORY },
      });
      return [end, outOfMemory];
    },
  ],
  'a limit of processes is refused': [
    'limits',
    () => run('true', { limits: { processes: 20 } }).catch(({ step }) => step),
  ],
};

if (process.argv[2] === 'host') {
  await start('sleep 60', { limits: LIMITS });
  console.log('started');
} else {
  const expected = process.argv[2];
  console.log('begins in', readFileSync('/proc/self/cgroup', 'utf8').trim());
  for (const [check, [wanted, ask]] of Object.entries(expected === 'group' ? IN_GROUPS : WITHOUT)) {
    const got = await Promise.resolve(ask()).catch(String);
    const ok = JSON.stringify(got) === JSON.stringify(wanted);
    console.log(JSON.stringify({ check, ok, ...(!ok && { wanted, got }) }));
  }
  const command = await run('cat /proc/self/cgroup', { limits: { memoryBytes: MEMORY } });
  console.log('ends in', readFileSync('/proc/self/cgroup', 'utf8').trim());
  console.log('a command in', textOf(command).trim());
}
