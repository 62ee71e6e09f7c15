import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { run, spawn } from '../../src/index.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { namespaces, runHost, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { childrenOf, eventually, isGone, keeperOf, lives } from '../support/processes.js';
import { exited, printed } from '../support/results.js';

// Part A: what is told about what still runs, and what really ends.
leavesNothingBehind();
const folder = useFolder();
const newOwner = useOwners();
const asUser = ROOT.isMet ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];

describe('remaining processes are listed at every end', () => {
  test.each([
    ['A2: by the group that it has once it has left', `setsid nohup SLEEP >/dev/null 2>&1 &`],
    ['A3: although it has left the group and holds no pipe', `setsid SLEEP >/dev/null 2>&1 &`],
    ['A3: also by a program that forks', `setsid -f SLEEP >/dev/null 2>&1`],
    ['A3: also some time later', `setsid SLEEP >/dev/null 2>&1 & sleep 0.2`],
  ])('%s', async (_, command) => {
    const owner = newOwner();
    for (let count = 0; count < 15; count += 1) {
      const nap = longSleep(5200 + count);
      const { background } = await run(command.replace('SLEEP', nap), { owner });
      expect(background).toMatchObject([{ command: nap }]);
      const [left = { pid: 0, processGroup: 0 }] = background;
      // What is told stops it.
      process.kill(-left.processGroup, 'SIGKILL');
      await eventually(() => expect(isGone(left.pid)).toBe(true));
    }
  });

  test.each([
    [`nohup SLEEP >/dev/null 2>&1 &`, ['SLEEP']],
    [`( SLEEP; echo x ) >/dev/null &`, ['( SLEEP; echo x ) >/dev/null &', 'SLEEP']],
  ])("A4: %s is listed by its own command line, never by forkline's", async (text, expected) => {
    const owner = newOwner();
    for (let count = 0; count < 10; count += 1) {
      const nap = longSleep(5300 + count);
      const { background } = await run(text.replace('SLEEP', nap), { owner });
      // On a busy machine nohup may not have come to what it runs.
      const names = background.map(({ command }) => command.replace(/^nohup /, '')).sort();
      expect(names).toEqual(expected.map((name) => name.replace('SLEEP', nap)).sort());
    }
  });
});

test('A5: a process that survives SIGKILL is listed all the same', where(ROOT), async () => {
  const program = setUserIdSleep();
  const host = startHost('commands', { under: asUser });
  const command = `setsid ${program} 30 >/dev/null 2>&1 & sleep 30`;
  const { result } = await host.run(command, { timeoutMs: 500, graceMs: 200 });
  expect(result?.background).toMatchObject([{ command: `${program} 30` }]);
  for (const { pid } of result?.background ?? []) process.kill(pid, 'SIGKILL');
  host.child.stdin?.end();
  await host.ended;
});

/** A program that becomes root, which another user's host can't signal. */
function setUserIdSleep(): string {
  const source = fileURLToPath(new URL('../support/become-root.c', import.meta.url));
  const program = folder.file('become-root');
  execFileSync('chmod', ['755', folder.path]);
  execFileSync('cc', ['-o', program, source]);
  execFileSync('chmod', ['4755', program]);
  return program;
}

describe('where /proc shows nothing', () => {
  const stubborn = (seconds: number) =>
    `trap '' TERM; ${longSleep(seconds)} & setsid ${longSleep(seconds)} & ${longSleep(seconds)}`;
  const bound = (what: string) =>
    namespaces('-m', 'sh', '-c', `mount ${what} /proc && exec "$@"`, folder.path);

  test.each([
    ['an empty directory', '--bind "$0"', 540],
    ['nothing that can be read', '-t tmpfs -o mode=0 none', 541],
  ])('A6: %s: all is ended all the same', async (_, mount, seconds) => {
    const host = startHost('commands', { under: bound(mount) });
    const { result } = await host.run(stubborn(seconds), { timeoutMs: 500, graceMs: 200 });
    expect(result?.outcome).toMatchObject({ kind: 'timedOut', forced: true });
    expect(sleeping(seconds)).toEqual([]);
    expect(result?.background).toEqual([]);
    const left = await host.run(`setsid ${longSleep(seconds)} >/dev/null 2>&1 & :`);
    expect(left.result?.background).toHaveLength(1);
    host.child.stdin?.end();
    await host.ended;
    await eventually(() => expect(sleeping(seconds)).toEqual([]));
  });

  test(
    'A7: a process of another user that is hidden is never taken for gone',
    where(ROOT),
    async () => {
      const program = setUserIdSleep();
      const under = [...bound('-t proc -o hidepid=invisible proc'), ...asUser];
      const host = startHost('commands', { under });
      const command = `${program} 31 & sleep 31`;
      const { result } = await host.run(command, { timeoutMs: 500, graceMs: 200 });
      expect(result?.background).toHaveLength(1);
      const [left = { pid: 0 }] = result?.background ?? [];
      expect(lives(left.pid)).toBe(true);
      process.kill(left.pid, 'SIGKILL');
      host.child.stdin?.end();
      await host.ended;
    },
  );
});

test('A10: processes that a nested command has started end with the command', async () => {
  const script = fileURLToPath(new URL('../support/hosts/commands.mjs', import.meta.url));
  const inner = quote(JSON.stringify({ command: `setsid ${longSleep(550)} >/dev/null 2>&1 & :` }));
  const host = `${quote(process.execPath)} ${quote(script)}`;
  const command = `${host} ${inner}; sleep 30 & ${host}`;
  const live = await spawn(command, { stdin: 'pipe' });
  await live.write(`${JSON.stringify({ command: `setsid ${longSleep(551)} & sleep 60` })}\n`);
  await eventually(() => expect(sleeping(551)).toHaveLength(1));
  const result = await live.kill();
  expect(result.background).toEqual([]);
  expect([...sleeping(550), ...sleeping(551)]).toEqual([]);
});

test('A11: a chain of processes that fork and exit does not outrun its end', async () => {
  const chain = `perl -e '$0 = "forkline-chain"; $SIG{TERM} = "IGNORE"; while (1) { fork and exit; select undef, undef, undef, 0.001; }'`;
  for (let count = 0; count < 4; count += 1) {
    const result = await run(`${chain} & sleep 30`, { timeoutMs: 400, graceMs: 100 });
    expect(result.outcome).toMatchObject({ kind: 'timedOut', forced: true });
    expect(result.background).toEqual([]);
    expect(spawnSync('pgrep', ['-f', '^forkline-chain']).status).toBe(1);
  }
});

test('A12: a foreground command ends with a killed host, whatever processes it has left', async () => {
  const host = startHost('commands');
  void host.run(`env -i setsid -w ${longSleep(560)}`).catch(() => {});
  await eventually(() => expect(sleeping(560)).toHaveLength(1));
  host.child.kill('SIGKILL');
  await host.ended;
  await eventually(() => expect(sleeping(560)).toEqual([]));
});

test('A13: a host with process id 1 has no zombies', async () => {
  const under = namespaces('--pid', '--fork', '--kill-child', '--mount-proc');
  const host = startHost('commands', { under });
  const command = 'setsid sleep 60 & sleep 60';
  for (let count = 0; count < 5; count += 1) await host.run(command, { timeoutMs: 100 });
  const [first = 0] = childrenOf(Number(host.child.pid));
  // Its keeper.
  expect(childrenOf(first)).toHaveLength(1);
  host.child.stdin?.end();
  await host.ended;
});

test('A14: a command that starts its own siblings leaves none to the host', async () => {
  const source = fileURLToPath(new URL('../support/clone-parent.c', import.meta.url));
  execFileSync('cc', ['-o', folder.file('clone-parent'), source]);
  const before = childrenOf(process.pid);
  const result = await run(folder.file('clone-parent'));
  expect(result.outcome).toEqual(exited(0));
  expect(childrenOf(process.pid)).toEqual(before);
});

test('A16: ending a finished command does not wait, and its owner ends the remaining processes', async () => {
  const owner = newOwner();
  const live = await spawn(`${longSleep(561)} & echo up`, { owner });
  // Until the host knows of its end, an end is one of everything.
  await eventually(async () => expect(await live.signal('SIGCONT')).toBe(false));
  const { background } = await live.kill();
  expect(background).toMatchObject([{ command: longSleep(561) }]);
  await owner.dispose();
  expect(sleeping(561)).toEqual([]);
});

describe('where process ids are few', () => {
  const under = namespaces('-pf', '--mount-proc', '--kill-child');

  test('A21: another process that gets the id of a group is neither listed nor signalled', async () => {
    const report = await runHost<{ named: number; ended: number; strangers: number }>('strangers', {
      under,
      args: ['dispose'],
    });
    expect(report.strangers).toBeGreaterThan(100);
    expect(report).toMatchObject({ named: 0, ended: 0 });
  }, 60_000);

  test('A22: it is not signalled when the host was killed', async () => {
    const report = await runHost<{ ended: number; reused: number }>('strangers-after', { under });
    expect(report.reused).toBeGreaterThan(0);
    expect(report.ended).toBe(0);
  }, 60_000);
});

test('A23: a detached child of the host with a command’s environment is not touched', async () => {
  const under = namespaces('--pid', '--fork', '--kill-child', '--mount-proc');
  const report = await runHost<{ codes: number[] }>('copied-environment', { under });
  expect(report.codes).toEqual(Array.from({ length: 10 }, () => 9));
});

test('A24: a child of the host is not a command’s, whatever its environment', async () => {
  const owner = newOwner();
  const environment = Object.fromEntries(
    printed(await run('env', { owner }))
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  const child = (await import('node:child_process')).spawn('sleep', ['60'], { env: environment });
  await owner.dispose();
  await sleep(50);
  expect(lives(Number(child.pid))).toBe(true);
  child.kill('SIGKILL');
});

test('$PPID of a command is not the host', async () => {
  expect(Number(printed(await run('echo $PPID')))).not.toBe(process.pid);
  expect(keeperOf()).toBeGreaterThan(0);
  expect(readFileSync(`/proc/${keeperOf()}/comm`, 'utf8')).toBe('forkline-keeper\n');
});
