import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { endOf, program } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { type Host, namespaces, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { childrenOf, eventually, keeperOf, lives } from '../support/processes.js';
import { exited } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();

beforeAll(() => {
  const compiler = process.env.CC?.split(' ')[0] || 'cc';
  const source = fileURLToPath(new URL('../support/deny.c', import.meta.url));
  execFileSync(compiler, ['-o', folder.file('deny'), source]);
});

/** What a container's filter of some years ago does not know. (Without clone3, Node does not start.) */
const NEWER = ['close_range', 'openat2', 'pidfd_open', 'pidfd_send_signal', 'unshare'];

/** A host for which the kernel, as far as it can see, answers these calls with an errno. */
function hostWithout(errno: string, calls: readonly string[], under: readonly string[] = []): Host {
  // One that Node does not close on exec, at number 5.
  const stray = openSync('/dev/null', 'r');
  const host = startHost('commands', {
    under: [...under, folder.file('deny'), errno, ...calls, '--'],
    stdio: ['pipe', 'pipe', 'inherit', 'ignore', 'ignore', stray],
  });
  closeSync(stray);
  return host;
}

/** Those who look after its commands. */
function crewOf(host: Host): number[] {
  const keeper = keeperOf(Number(host.child.pid));
  return keeper > 0 ? [keeper, ...childrenOf(keeper)] : [];
}

test.each(['EPERM', 'ENOSYS'])(
  'A18: where newer calls are answered with %s, commands run',
  async (errno) => {
    const host = hostWithout(errno, NEWER);
    const { result } = await host.run('echo hi; ls /proc/self/fd | tr "\\n" " "');
    expect(result?.outcome).toEqual(exited(0));
    // Its own stdio and the directory that it lists: nothing of the host's.
    expect(result?.output).toMatchObject({ text: 'hi\n0 1 2 3 ' });
    const followed = await host.run('cd /usr', { followDirectory: true });
    expect(followed.result?.directory).toBe('/usr');
    host.child.stdin?.end();
    await host.ended;
  },
);

test('A18: also without /proc, no file descriptor of the host reaches a command', async () => {
  const empty = namespaces('-m', 'sh', '-c', `mount --bind "$0" /proc && exec "$@"`, folder.path);
  const host = hostWithout('EPERM', NEWER, empty);
  const { result } = await host.run('echo hi; { true <&5; } 2>/dev/null || echo closed');
  expect(result?.output).toMatchObject({ text: 'hi\nclosed\n' });
  host.child.stdin?.end();
  await host.ended;
});

test('A18: a denied call that is needed is named with its reason', async () => {
  const host = hostWithout('EPERM', ['socketpair']);
  const { error } = await host.run('true');
  expect(error).toMatchObject({ name: 'LaunchError', code: 'EPERM', step: 'engine' });
  expect(error?.message).toBe(
    'EPERM: cannot start the engine: socketpair: Operation not permitted',
  );
  host.child.stdin?.end();
  await host.ended;
});

test('A18: without memory files, commands run', async () => {
  const host = hostWithout('EPERM', ['memfd_create']);
  const { result } = await host.run('echo hi');
  expect(result?.output).toMatchObject({ text: 'hi\n' });
  host.child.stdin?.end();
  await host.ended;
});

/** Longer than what goes beside a request, so that it needs a file in memory. */
const longText = `: ${'x'.repeat(200_000)}; echo ran`;

test('a text that needs a memory file where there is none is refused by the name of the call (N10)', async () => {
  const host = hostWithout('EPERM', ['memfd_create']);
  const { error } = await host.run(longText);
  expect(error).toMatchObject({ name: 'LaunchError', code: 'EPERM', step: 'descriptors' });
  expect(error?.message).toContain('memfd_create');
  expect((await host.run('echo hi')).result?.output).toMatchObject({ text: 'hi\n' });
  host.child.stdin?.end();
  await host.ended;
});

test(
  'memory files are created as not executable, where others are refused (N10)',
  where(ROOT),
  async () => {
    const forbid = 'echo 2 >/proc/sys/vm/memfd_noexec && exec "$@"';
    const under = namespaces('-pf', '--mount-proc', '--kill-child', 'sh', '-c', forbid, 'sh');
    const host = startHost('commands', { under });
    const { result, error } = await host.run(longText);
    expect(error).toBeUndefined();
    expect(result?.output).toMatchObject({ text: 'ran\n' });
    host.child.stdin?.end();
    await host.ended;
  },
);

describe('where waitid is denied (N9)', () => {
  test('commands run and end as usual, and the keeper ends with its host', async () => {
    const host = hostWithout('EPERM', ['waitid']);
    expect((await host.run('echo hi; exit 7')).result?.outcome).toEqual(exited(7));
    expect((await host.run('kill -9 $$')).result?.outcome).toMatchObject({ signal: 'SIGKILL' });
    const stubborn = `trap '' TERM; setsid ${longSleep(372)} & ${longSleep(372)}`;
    const { result } = await host.run(stubborn, { timeoutMs: 500, graceMs: 200 });
    expect(result?.outcome).toMatchObject({ kind: 'timedOut', forced: true });
    expect(result?.background).toEqual([]);
    const left = await host.run(`setsid ${longSleep(372)} >/dev/null 2>&1 & :`);
    expect(left.result?.background).toMatchObject([{ command: longSleep(372) }]);
    // What its keeper then ends.
    expect((await host.run('sleep 0.3; kill -9 $PPID; sleep 60')).result?.outcome.kind).toBe(
      'unknown',
    );
    const crew = crewOf(host);
    host.child.stdin?.end();
    await host.ended;
    await eventually(() => expect([...sleeping(372), ...crew.filter(lives)]).toEqual([]));
  });

  test('and there is no /proc either, all processes are still ended', async () => {
    const empty = namespaces('-m', 'sh', '-c', `mount --bind "$0" /proc && exec "$@"`, folder.path);
    const host = hostWithout('EPERM', ['waitid'], empty);
    const stubborn = `trap '' TERM; setsid ${longSleep(373)} & ${longSleep(373)}`;
    const { result } = await host.run(stubborn, { timeoutMs: 500, graceMs: 200 });
    expect(result?.outcome).toMatchObject({ kind: 'timedOut', forced: true });
    expect([...(result?.background ?? []), ...sleeping(373)]).toEqual([]);
    expect((await host.run('exit 7')).result?.outcome).toEqual(exited(7));
    host.child.stdin?.end();
    await host.ended;
  });

  test('and nothing can replace it, the error names it at once', async () => {
    const host = hostWithout('EPERM', ['waitid', 'wait4']);
    const { error } = await host.run('true');
    expect(error).toMatchObject({ name: 'LaunchError', code: 'EPERM', step: 'keeper' });
    expect(error?.message).toBe(
      'EPERM: cannot start forkline-keeper: waitid: Operation not permitted',
    );
    const crew = crewOf(host);
    host.child.stdin?.end();
    await host.ended;
    await eventually(() => expect(crew.filter(lives)).toEqual([]));
  });
});

test('A18: without /dev/null the error has that name', async () => {
  const bare = namespaces('-m', 'sh', '-c', 'mount -t tmpfs none /dev && exec "$@"', 'sh');
  const host = startHost('commands', { under: bare });
  const { error } = await host.run('true');
  expect(error).toMatchObject({ name: 'LaunchError', code: 'ENOENT', step: 'engine' });
  expect(error?.message).toContain('opening /dev/null');
  host.child.stdin?.end();
  await host.ended;
});

test.each([[['pidfd_send_signal']], [['pidfd_open']], [['pidfd_open', 'pidfd_send_signal']]])(
  'A17: where %s is denied, a process that has left the group and ignores SIGTERM is ended in time',
  async (calls) => {
    const host = hostWithout('EPERM', calls);
    const stubborn = `perl -e '$SIG{TERM} = "IGNORE"; setpgrp; exec qw(${longSleep(371)})'`;
    const started = performance.now();
    const { result } = await host.run(`${stubborn} & sleep 100`, { timeoutMs: 500, graceMs: 300 });
    expect(result?.outcome).toMatchObject({ kind: 'timedOut' });
    expect(result?.background).toEqual([]);
    expect(sleeping(371)).toEqual([]);
    // It gives up after ten seconds.
    expect(performance.now() - started).toBeLessThan(8000);
    host.child.stdin?.end();
    await host.ended;
  },
);

test('A17: doctor says that pidfds are denied', async () => {
  const args = ['EPERM', 'pidfd_open', '--', process.execPath, program, 'doctor', '--json'];
  const { stdout } = await endOf(spawn(folder.file('deny'), args));
  expect(JSON.parse(stdout.toString()).findings).toContainEqual(
    expect.objectContaining({ name: 'pidfd', status: 'limited' }),
  );
});

test('A19: a command that ended in time has not timed out, however long its host was stopped', async () => {
  const host = startHost('commands');
  await host.run('true');
  const ending = host.run('sleep 0.5; echo done', { timeoutMs: 1500 });
  await sleep(200);
  host.child.kill('SIGSTOP');
  await sleep(2500);
  host.child.kill('SIGCONT');
  const { result } = await ending;
  expect(result?.outcome).toEqual(exited(0));
  expect(result?.output).toMatchObject({ text: 'done\n' });
  host.child.stdin?.end();
  await eventually(() => host.ended);
});
