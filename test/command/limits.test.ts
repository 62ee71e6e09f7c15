import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findOwnGroup, ownGroup } from '../../src/command/limits/hierarchies.js';
import { createBashTool, InputError, LaunchError, receiptOf, run, spawn } from '../../src/index.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind, useOwners } from '../support/leftovers.js';
import { LIMITS } from '../support/limits.js';
import { need, ROOT, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { exited, failureOf, printed } from '../support/results.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const newOwner = useOwners();

/** The version of control groups. In version 2 one group is for all limits, and is killed as a whole. */
const version = (await findOwnGroup('memory'))?.version;
const groupCount = version === 2 ? 1 : 2;

/** The control groups of forkline that are left. */
const groups = (pid = process.pid) =>
  execFileSync('find', ['/sys/fs/cgroup', '-name', `forkline-${pid}-*`])
    .toString()
    .split('\n')
    .filter((path) => path !== '');

test.each([
  [{ memoryBytes: 'much' }, 'limits.memoryBytes'],
  [{ memoryBytes: 1000 }, 'limits.memoryBytes'],
  [{ processes: 0 }, 'limits.processes'],
  [{ processes: 4 * 1024 * 1024 + 1 }, 'limits.processes'],
  [{ cpuSeconds: 0.5 }, 'limits.cpuSeconds'],
  [{ memory: 1 }, 'limits.memory'],
  [5, 'limits'],
])('limits such as %j are refused by the name of what is wrong', async (limits, name) => {
  const wrong = run('true', { limits: limits as object });
  await expect(wrong).rejects.toThrow(InputError);
  await expect(wrong).rejects.toThrow(new RegExp(`^${name}\\b`));
});

test('a process that uses more processor time than its limit is ended', async () => {
  const { outcome, limits } = await run('while :; do :; done', { limits: { cpuSeconds: 1 } });
  expect(limits).toEqual({ cpuSeconds: 'rlimit', reached: ['cpuSeconds'] });
  expect(outcome).toEqual({ kind: 'signaled', signal: 'SIGXCPU' });
  const free = await run('ulimit -t');
  expect(printed(free)).toBe('unlimited\n');
});

test.each([
  ['its last program was', 'bash -c "while :; do :; done"', exited(152), ['cpuSeconds']],
  [
    'it went on after SIGXCPU',
    'trap "" XCPU; while :; do :; done',
    { kind: 'signaled', signal: 'SIGKILL' },
    ['cpuSeconds'],
  ],
  ['another has killed it', 'kill -9 $$', { kind: 'signaled', signal: 'SIGKILL' }, undefined],
] as const)('ended for its processor time: %s', async (_, command, end, reached) => {
  const { outcome, limits } = await run(command, { limits: { cpuSeconds: 1 } });
  expect([outcome, limits?.reached]).toEqual([end, reached]);
});

test.each(['workspace', 'modes', 'session', 'plain'] as const)(
  'W13: the model of %s is told that processor time was limited',
  async (contract) => {
    const tool = createBashTool({ contract, cwd: '/tmp', limits: { cpuSeconds: 1 } });
    const call = tool.execute({ command: 'bash -c "while :; do :; done"' });
    expect(textOf(await call)).toContain('The limit of processor time was reached');
    expect(textOf(await tool.execute({ command: 'true' }))).not.toContain('limit');
    await tool.dispose();
  },
);

describe('a control group of its own', where(LIMITS), () => {
  const eat = `/usr/bin/python3 -c 'b = bytearray(200 << 20)'`;
  /** The outcome of a command of which one process has used too much memory. */
  const ended = version === 2 ? { kind: 'signaled', signal: 'SIGKILL' } : exited(0);

  test('is removed again if the owner of its command is disposed of meanwhile', async () => {
    const owner = newOwner();
    const limits = { processes: 20 };
    const running = run('echo ran', { limits, owner });
    const spawned = failureOf(spawn('echo ran', { limits, owner }));
    await owner.dispose();
    expect(await running).toMatchObject({
      outcome: { by: 'owner', ending: { kind: 'neverStarted' } },
    });
    expect(await spawned).toMatchObject({
      message: 'the owner of the command was disposed before it could start',
    });
    await eventually(() => expect(groups()).toEqual([]));
  });

  test('ends a command that uses more memory than its limit, and the result says so', async () => {
    const result = await run(`${eat}; echo $?`, { limits: { memoryBytes: 64 << 20 } });
    expect(printed(result)).toMatch(version === 1 ? /\b137\n$/ : /^$/);
    expect(result).toMatchObject({ outcome: ended, outOfMemory: 'yes' });
    expect(result.limits).toEqual({ memoryBytes: 'group' });
    const receipt = await receiptOf(result);
    expect(receipt).toMatchObject({ outOfMemory: 'yes', limits: { memoryBytes: 'group' } });
    const enough = await run(`${eat}; echo $?`, { limits: { memoryBytes: 512 << 20 } });
    expect([printed(enough), enough.outOfMemory]).toEqual(['0\n', undefined]);
    expect(groups()).toEqual([]);
  });

  test('a SIGKILL from elsewhere does not count as out of memory', async () => {
    const limits = { memoryBytes: 512 << 20 };
    const { outOfMemory } = await run('kill -9 $$', { limits });
    expect(outOfMemory).not.toBe('yes');
  });

  test('allows no more processes than its limit', async () => {
    const limits = { processes: 8 };
    const command = `for n in $(seq 20); do sleep 0.3 & done 2>err; jobs -r | wc -l; cat err; rm err`;
    const result = await run(command, { cwd: '/tmp', limits });
    expect(printed(result)).toMatch(/^[1-7]\n|fork.*unavailable/s);
    expect(result.limits).toEqual({ processes: 'group', reached: ['processes'] });
    expect((await receiptOf(result)).limits?.reached).toEqual(['processes']);
    const few = await run('sleep 0.01 & wait', { limits });
    expect(few.limits).toEqual({ processes: 'group' });
  });

  test.each(['workspace', 'modes', 'session', 'plain'] as const)(
    'W13: the model of %s is told that no more processes were allowed',
    async (contract) => {
      const tool = createBashTool({ contract, cwd: '/tmp', limits: { processes: 8 } });
      const many = 'for n in $(seq 20); do sleep 0.3 & done 2>/dev/null; wait';
      expect(textOf(await tool.execute({ command: many }))).toContain(
        'The limit of processes was reached',
      );
      expect(textOf(await tool.execute({ command: 'true' }))).not.toContain('limit');
      await tool.dispose();
    },
  );

  test.each(['workspace-write', 'read-only'] as const)(
    'works in a sandbox too: %s',
    async (sandbox) => {
      const host = startHost('commands', {});
      const limits = { memoryBytes: 64 << 20, processes: 50 };
      const { result } = await host.run(`${eat}; echo $?`, { cwd: '/srv', sandbox, limits });
      host.child.stdin?.end();
      await host.ended;
      expect(result).toMatchObject({ outcome: ended, outOfMemory: 'yes' });
    },
  );

  test(
    'of version 2 has no swap, and is killed as a whole',
    where(need(version === 2, 'no control groups of version 2')),
    async () => {
      const files = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'];
      const command = `cd "/sys/fs/cgroup$(sed 's/^0:://' /proc/self/cgroup)" && cat ${files.join(' ')}`;
      const { output } = await run(command, { limits: { memoryBytes: 64 << 20, processes: 20 } });
      expect(output.kind === 'complete' && output.text).toBe(`${64 << 20}\n0\n1\n20\n`);
    },
  );

  test('that a killed host has left is removed by the next host, and no other group is', async () => {
    const host = startHost('commands', {});
    const limits = { processes: 20, memoryBytes: 64 << 20 };
    void host.run('sleep 60', { limits }).catch(() => {});
    await eventually(() => expect(groups(host.child.pid).length).toBe(groupCount));
    const [place = ''] = groups(host.child.pid);
    const others = ['forkline-1-1-1-1', `forkline-${process.pid}-x`].map((name) =>
      join(dirname(place), name),
    );
    for (const other of others) await mkdir(other);
    host.child.kill('SIGKILL');
    await host.ended;
    await eventually(() => {
      for (const path of groups(host.child.pid)) {
        expect(readFileSync(join(path, 'cgroup.procs'), 'utf8')).toBe('');
      }
    });
    const next = startHost('commands', {});
    await next.run('true', { limits });
    await eventually(() => expect(groups(host.child.pid)).toEqual([]));
    for (const other of others) await rmdir(other);
    next.child.stdin?.end();
    await next.ended;
  });

  test('is removed when no process of the command is left', async () => {
    const owner = newOwner();
    const limits = { processes: 20, memoryBytes: 64 << 20 };
    const live = await spawn('sleep 60 & echo', { owner, limits });
    expect(groups().length).toBe(groupCount);
    const { background } = await live.result;
    expect(background.length).toBe(1);
    expect(groups().length).toBe(groupCount);
    await owner.dispose();
    await eventually(() => expect(groups()).toEqual([]));
  });

  test('is not left behind by a command that never starts', async () => {
    const limits = { processes: 20 };
    await failureOf(run('true', { cwd: '/nowhere', limits }));
    const { outcome } = await run('true', { limits, signal: AbortSignal.abort() });
    expect(outcome.kind).toBe('cancelled');
    await eventually(() => expect(groups()).toEqual([]));
  });
});

/** Prints the oom score of the command, and that of a process that it starts. */
const SCORES = 'cat /proc/self/oom_score_adj; (sleep 0.05; cat /proc/self/oom_score_adj) & wait';

describe('without a delegated control group', where(ROOT), () => {
  const under = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const asNobody = async (command: string, options: object) => {
    const host = startHost('commands', { under });
    const answer = await host.run(command, options);
    host.child.stdin?.end();
    await host.ended;
    return answer;
  };

  test('a limit on processes is refused', async () => {
    const { error } = await asNobody('true', { limits: { processes: 20 } });
    expect(error).toMatchObject({ name: LaunchError.name, step: 'limits' });
    expect(error?.message).toMatch(/limits\.processes needs a control group.*Delegate=yes/);
  });

  test('a command with a limit on memory is ended before its host, and its result says so', async () => {
    const limits = { memoryBytes: 64 << 20, cpuSeconds: 60 };
    const { result } = await asNobody(SCORES, { limits });
    expect(result && printed(result)).toBe('1000\n1000\n');
    expect(result?.limits).toEqual({ memoryBytes: 'oom-score', cpuSeconds: 'rlimit' });
    if (result === undefined) return;
    expect((await receiptOf(result)).troubles).toEqual([
      expect.stringContaining('could take more than limits.memoryBytes'),
    ]);
  });

  test('a command in a sandbox is ended before its host too, whenever its score is set', async () => {
    const limits = { memoryBytes: 64 << 20 };
    const command = `until grep -q 1000 /proc/$$/oom_score_adj; do sleep 0.01; done; ${SCORES}`;
    // The score may be set before the command's exec is over or after its first output: that is chance.
    for (let hosts = 0; hosts < 6; hosts += 1) {
      const answer = await asNobody(command, { limits, cwd: '/', sandbox: 'read-only' });
      expect(answer.error).toBeUndefined();
      expect(answer.result && printed(answer.result)).toBe('1000\n1000\n');
      expect(answer.result?.limits).toEqual({ memoryBytes: 'oom-score' });
    }
  });

  test('a limit on memory is refused where the oom score can not be raised, and nothing runs', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'limits-'));
    await chmod(cwd, 0o777);
    const sandbox = { mode: 'workspace-write', require: 'landlock' };
    const options = { limits: { memoryBytes: 64 << 20 }, cwd, sandbox };
    const { error } = await asNobody('echo >ran', options);
    expect(error?.message).toMatch(/cannot keep its limits: .*oom_score_adj: Permission denied/);
    expect(await readdir(cwd)).toEqual([]);
    await rm(cwd, { recursive: true });
    const first = ['sh', '-c', 'echo 1000 >/proc/self/oom_score_adj; exec "$@"', 'sh'];
    const host = startHost('commands', { under: [...first, ...under] });
    const answer = await host.run('true', { limits: { memoryBytes: 64 << 20 } });
    host.child.stdin?.end();
    await host.ended;
    expect(answer.error?.message).toMatch(
      /limits\.memoryBytes needs .* of the host is 1000 already/,
    );
  });
});

test("the host's own group is found in files of /proc, also inside a container", () => {
  const one = '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n';
  const two = '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n';
  const inside = '35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n';
  expect(ownGroup('memory', '4:memory:/a\n0::/\n', one + two)).toEqual({
    version: 1,
    path: '/sys/fs/cgroup/memory/a',
    top: '/sys/fs/cgroup/memory',
  });
  expect(ownGroup('memory', '0::/user.slice/x\n', two)).toEqual({
    version: 2,
    path: '/sys/fs/cgroup/user.slice/x',
    top: '/sys/fs/cgroup',
  });
  expect(ownGroup('memory', '4:memory:/docker/1\n', inside)?.path).toBe('/sys/fs/cgroup/memory');
  expect(ownGroup('pids', '4:memory:/a\n', one)).toBeUndefined();
});
