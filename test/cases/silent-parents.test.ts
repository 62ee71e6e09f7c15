import { execFileSync, spawn as spawnProcess } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CONTRACT_NAMES, createBashTool, run, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { type Host, publicCopy, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { childrenOf, eventually, isGone, keeperOf, lives, parentOf } from '../support/processes.js';
import { exited, printed } from '../support/results.js';
import { textOf } from '../support/tool.js';

// What a command does to its own parent, and parents that say nothing: each call has an end, what ran is
// never told not to have been started, and nothing that was changed is used again.
leavesNothingBehind();
const folder = useFolder();
const newOwner = useOwners();
const keep = useDisposal();

beforeAll(() => {
  const compiler = process.env.CC?.split(' ')[0] || 'cc';
  for (const name of ['deny', 'trace']) {
    const source = fileURLToPath(new URL(`../support/${name}.c`, import.meta.url));
    execFileSync(compiler, ['-o', folder.file(name), source]);
  }
});

const tracers = new Set<ReturnType<typeof spawnProcess>>();
afterEach(() => {
  for (const tracer of tracers) tracer.stdin?.end();
  tracers.clear();
});

/** Has these processes stand still, as under a debugger, until the test is over. */
async function trace(...pids: number[]): Promise<void> {
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const tracer = spawnProcess(folder.file('trace'), pids.map(String), { stdio: [...stdio] });
  tracers.add(tracer);
  await new Promise((resolve) => tracer.stdout?.once('data', resolve));
}

/** Whether this user may trace its own processes, other than its children. */
function mayTrace(): boolean {
  try {
    const scope = readFileSync('/proc/sys/kernel/yama/ptrace_scope', 'utf8').trim();
    return scope === '0' || (scope === '1' && process.getuid?.() === 0);
  } catch {
    return true;
  }
}

describe('a cradle that its command kills as its first act', () => {
  const nap = longSleep(561);

  test('a command that ran is not reported as not started, and no process of it is left (N2)', async () => {
    const file = folder.file('ran');
    for (let count = 0; count < 8; count += 1) {
      const text = `echo ran >>${file}; (setsid ${nap} &) ; kill -9 $PPID; ${nap}`;
      const { outcome, background } = await run(text);
      expect(outcome).toEqual({ kind: 'unknown' });
      expect(background).toEqual([]);
      expect(sleeping(561)).toEqual([]);
    }
    expect(readFileSync(file, 'utf8')).toBe('ran\n'.repeat(8));
  });

  test('its output is kept (N2)', async () => {
    const result = await run('echo before; kill -9 $PPID');
    expect(result.outcome).toEqual({ kind: 'unknown' });
    expect(result).toMatchObject({ output: { text: 'before\n' } });
  });

  test.each(CONTRACT_NAMES)(
    'a model is not told that it could not be started, by %s (N2)',
    async (contract) => {
      const tool = keep(createBashTool({ contract, cwd: folder.path }));
      const file = folder.file(`ran-${contract}`);
      const command = `echo ran >>${file}; kill -9 $PPID; sleep 1`;
      const told = await tool.execute({ command }).then(textOf, (error: Error) => error.message);
      expect(readFileSync(file, 'utf8')).toBe('ran\n');
      expect(told).toMatch(/missing exit status|-1/);
      expect(told).not.toContain('could not be started');
    },
  );

  test('its keeper too: processes that may be left are listed (N2)', async () => {
    const keeper = 'read -r _ _ _ keeper _ </proc/$PPID/stat';
    const text = `${keeper}; trap '' TERM; kill -STOP $keeper; kill -9 $PPID $keeper; ${nap}; :`;
    const { outcome, background } = await run(text);
    expect(outcome).toEqual({ kind: 'unknown' });
    expect(background.length).toBeGreaterThan(0);
    for (const { pid } of background) process.kill(pid, 'SIGKILL');
    for (const pid of sleeping(561)) process.kill(pid, 'SIGKILL');
    await eventually(() => expect(sleeping(561)).toEqual([]));
    expect(printed(await run('echo next'))).toBe('next\n');
  });
});

describe('a cradle that its command has changed is not reused', () => {
  const probe = [
    'ulimit -a; ulimit -Ha; nice; cat /proc/self/oom_score_adj',
    'taskset -p $$ | sed "s/.*: //"; ionice; chrt -p $$ | sed "s/.*: //"',
  ].join('; ');
  const keeper = 'read -r _ _ _ keeper _ </proc/$PPID/stat';

  test.each([
    ['its limit of files, to none (N3)', 'prlimit --pid $PPID --nofile=0:0'],
    ['its limit of files, to few (N4)', 'prlimit --pid $PPID --nofile=64:64'],
    ['its limit of processor time', 'prlimit --pid $PPID --cpu=1000:1000'],
    ['its nice value', 'renice -n 5 -p $PPID'],
    ['its processors', 'taskset -p 1 $PPID'],
    ['its priority at the disk', 'ionice -c 3 -p $PPID'],
    ['its scheduling policy', 'chrt -b -p 0 $PPID'],
    ['its score where memory runs out', 'echo 700 >/proc/$PPID/oom_score_adj'],
    ['the limits of its keeper (N3)', `${keeper}; prlimit --pid $keeper --nofile=0:0`],
    [
      'the limits of both (N3)',
      `${keeper}; for p in $keeper $PPID; do prlimit --pid $p --nofile=16:16; done`,
    ],
    ['the nice value of its keeper', `${keeper}; renice -n 5 -p $keeper`],
  ])('%s', async (_, change) => {
    const before = printed(await run(probe));
    expect((await run(`${change} >/dev/null`)).outcome).toEqual(exited(0));
    for (let count = 0; count < 3; count += 1) expect(printed(await run(probe))).toBe(before);
    const all = await Promise.all(Array.from({ length: 8 }, () => run(probe)));
    expect(new Set(all.map(printed))).toEqual(new Set([before]));
  });

  test('however many were changed at once', async () => {
    await Promise.all(
      Array.from({ length: 12 }, () => run('sleep 0.2; prlimit --pid $PPID --nofile=0:0')),
    );
    const all = await Promise.all(Array.from({ length: 16 }, () => run('echo hi')));
    expect(all.map(printed)).toEqual(Array.from({ length: 16 }, () => 'hi\n'));
  });

  test('a keeper with a full socket, when more cradles are requested than wait (N3)', async () => {
    await run(`${keeper}; prlimit --pid $keeper --nofile=0:0`);
    const started = performance.now();
    const all = await Promise.all(Array.from({ length: 12 }, () => run('sleep 0.2; echo hi')));
    expect(all.map(printed)).toEqual(Array.from({ length: 12 }, () => 'hi\n'));
    // It is not waited until it is taken for one that hangs, which takes half a minute.
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test('a host that lowers its own limits gets them', async () => {
    const text = 'prlimit --pid $HOST --nofile=128:; ulimit -n';
    const host = startHost('commands');
    await host.run('true');
    const env = { HOST: String(host.child.pid) };
    await host.run(text, { env });
    const { result } = await host.run('ulimit -n');
    expect(result?.output).toMatchObject({ text: '128\n' });
    host.child.stdin?.end();
    await host.ended;
  });
});

describe.skipIf(!mayTrace())('a traced cradle', () => {
  test('does not delay a deadline, and no process is left (N8)', async () => {
    const live = await spawn(longSleep(562), { timeoutMs: 1500, graceMs: 200 });
    await trace(parentOf(live.pid));
    const result = await live.result;
    expect(result.outcome).toMatchObject({ kind: 'timedOut', ending: { kind: 'unknown' } });
    expect(result.background).toEqual([]);
    expect(sleeping(562)).toEqual([]);
  }, 60_000);

  test('does not delay an abort, nor does its keeper: processes that may be left are listed (N8)', {
    tags: ['slow'],
  }, async () => {
    const live = await spawn(`${longSleep(563)}; :`, { graceMs: 200 });
    await trace(parentOf(live.pid), keeperOf());
    const result = await live.kill();
    expect(result.outcome).toMatchObject({ kind: 'cancelled', ending: { kind: 'unknown' } });
    expect(result.background).toMatchObject([{ pid: live.pid }]);
    for (const tracer of tracers) tracer.stdin?.end();
    await eventually(() => expect(sleeping(563)).toEqual([]));
  });

  test('before it has read a request: another cradle runs the command, once', {
    tags: ['slow'],
  }, async () => {
    await run('true');
    await trace(...childrenOf(keeperOf()));
    expect(printed(await run('echo hi', { timeoutMs: 1000 }))).toBe('hi\n');
  });

  test('does not delay the disposal of its owner, with remaining processes', {
    tags: ['slow'],
  }, async () => {
    const owner = newOwner();
    const { background } = await run(`setsid ${longSleep(564)} >/dev/null 2>&1 & :`, { owner });
    await trace(parentOf(background[0]?.pid ?? 0));
    await owner.dispose();
    await eventually(() => expect(sleeping(564)).toEqual([]));
  });

  test('is not waited for once its command has ended, though it has no deadline (N8)', {
    tags: ['slow'],
    timeout: 90_000,
  }, async () => {
    const live = await spawn('sleep 1; exit 3');
    await trace(parentOf(live.pid));
    const { outcome, background } = await live.result;
    expect(outcome).toEqual({ kind: 'unknown' });
    expect(background).toEqual([]);
  });

  test('a keeper: further commands get another one', {
    tags: ['slow'],
  }, async () => {
    await run('true');
    await sleep(1500);
    const keeper = keeperOf();
    await trace(keeper);
    const idle = childrenOf(keeper).filter(lives);
    for (const pid of idle) process.kill(pid, 'SIGKILL');
    await eventually(() => expect(idle.every(isGone)).toBe(true));
    expect(printed(await run('echo hi', { timeoutMs: 1000 }))).toBe('hi\n');
    await eventually(() => expect(lives(keeper)).toBe(false));
  });
});

describe('a cradle that cannot send its messages', () => {
  /** The number of the cradles' channels: the lowest of a socket, the same in all. */
  async function channelNumber(): Promise<string> {
    const host = startHost('commands');
    const { result } = await host.run(
      'ls -l /proc/$PPID/fd | sed -n "s/.* \\([0-9]*\\) -> socket.*/\\1/p" | sort -n | head -n 1',
    );
    host.child.stdin?.end();
    await host.ended;
    return result?.output.kind === 'complete' ? result.output.text.trim() : '';
  }

  function hostWhoseCradlesAreMute(errno: string, number: string): Host {
    const under = [folder.file('deny'), errno, `sendmsg=${number}`, '--'];
    return startHost('commands', { under });
  }

  test.each(['ENOMEM', 'ENOBUFS', 'EPERM'])(
    '%s: the call settles, and nothing is left (Q2)',
    async (errno) => {
      const number = await channelNumber();
      expect(number).toMatch(/^\d+$/);
      const host = hostWhoseCradlesAreMute(errno, number);
      const { result, error } = await host.run(`setsid ${longSleep(565)} & echo hi`);
      expect(error).toBeUndefined();
      expect(result?.outcome).toEqual({ kind: 'unknown' });
      expect(result?.background).toEqual([]);
      expect(result?.output).toMatchObject({ text: 'hi\n' });
      expect(sleeping(565)).toEqual([]);
      host.child.stdin?.end();
      await host.ended;
    },
    60_000,
  );
});

describe('a keeper that never starts to work', () => {
  function withKeeper(name: string, script: string): Host {
    const copy = publicCopy(folder.file(name));
    const keeper = join(copy, 'native/prebuilt/linux-x64-gnu/forkline-keeper');
    rmSync(keeper);
    writeFileSync(keeper, `#!/bin/sh\n${script}\n`);
    chmodSync(keeper, 0o755);
    return startHost('commands', { from: copy });
  }

  test.each([
    ['exits', 'echo "cannot find libsome.so" >&2; exit 3', 'exit code 3: cannot find libsome.so'],
    ['is killed', 'kill -SEGV $$', 'signal 11'],
  ])('for one that %s the error says why (Q12)', async (name, script, told) => {
    const host = withKeeper(name, script);
    const { error } = await host.run('true');
    host.child.stdin?.end();
    await host.ended;
    expect(error).toMatchObject({ name: 'LaunchError', code: 'ECONNABORTED', step: 'keeper' });
    expect(error?.message).toContain(`forkline-keeper, which ended while it started (${told})`);
  });

  test('one that sends nothing is ended, and the call settles (Q12)', {
    tags: ['slow'],
    timeout: 120_000,
  }, async () => {
    const host = withKeeper('mute', 'exec sleep 566');
    const { error } = await host.run('true');
    host.child.stdin?.end();
    await host.ended;
    expect(error).toMatchObject({ name: 'LaunchError', code: 'ETIMEDOUT', step: 'keeper' });
    expect(sleeping(566)).toEqual([]);
  });
});
