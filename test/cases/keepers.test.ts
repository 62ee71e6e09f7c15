import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { createOwner, run, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { namespaces, publicCopy, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { descriptors, ROOT, where } from '../support/needs.js';
import { childrenOf, eventually, isGone, keeperOf, lives, parentOf } from '../support/processes.js';
import { exited, printed } from '../support/results.js';

// The processes between host and command are killed, stopped, replaced, and missing.
leavesNothingBehind();
const folder = useFolder();
const newOwner = useOwners();

async function killKeeper(): Promise<void> {
  const keeper = keeperOf();
  process.kill(keeper, 'SIGKILL');
  await eventually(() => expect(isGone(keeper)).toBe(true));
}

describe('a killed process of forkline', () => {
  test('A15: a keeper is replaced, running commands go on, and one warning says so', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const live = await spawn('sleep 0.7; echo fin; exit 7');
    const asked = run('sleep 0.3; echo asked');
    await killKeeper();
    expect(printed(await run('echo next'))).toBe('next\n');
    expect(printed(await asked)).toBe('asked\n');
    const result = await live.result;
    expect(result.outcome).toEqual(exited(7));
    expect(result).toMatchObject({ output: { text: 'fin\n' } });
    // A command that comes before the news may still have been run by what that one has left.
    await eventually(async () => {
      await run('true');
      expect(keeperOf()).toBeGreaterThan(0);
    });
    process.off('warning', note);
    expect(warnings).toMatchObject([{ code: 'FORKLINE_KEEPER_KILLED' }]);
  });

  test(
    'A15: three hundred commands of a killed keeper are run once each',
    where(descriptors(4096)),
    async () => {
      const file = folder.file('ran');
      const all = Array.from({ length: 300 }, (_, index) => {
        return run(`echo ${index} >>${file}; exit ${index % 200}`);
      });
      await sleep(5);
      await killKeeper();
      const codes = (await Promise.all(all)).map(({ outcome }) => outcome);
      expect(codes).toEqual(Array.from({ length: 300 }, (_, index) => exited(index % 200)));
      const ran = printed(await run(`sort -n ${file}`));
      expect(ran).toBe(Array.from({ length: 300 }, (_, index) => `${index}\n`).join(''));
    },
  );

  test('A15: later commands do not survive the SIGKILL of their host', async () => {
    const host = startHost('commands');
    await host.run('true');
    process.kill(keeperOf(host.child.pid), 'SIGKILL');
    await host.run('true');
    host.run(`setsid ${longSleep(501)} & ${longSleep(501)}`).catch(() => {});
    await eventually(() => expect(sleeping(501)).toHaveLength(2));
    host.child.kill('SIGKILL');
    await host.ended;
    await eventually(() => expect(sleeping(501)).toEqual([]));
  });

  test('the command of a killed cradle is ended with all processes that it started, and its status is unknown', async () => {
    const live = await spawn(`setsid ${longSleep(502)} & ${longSleep(502)}`);
    await eventually(() => expect(sleeping(502)).toHaveLength(2));
    process.kill(parentOf(live.pid), 'SIGKILL');
    const result = await live.result;
    expect(sleeping(502)).toEqual([]);
    expect(result.outcome).toEqual({ kind: 'unknown' });
    expect(result.background).toEqual([]);
  });

  test('a cradle and the keeper together: the command ends, and is listed, since its processes are not known', async () => {
    const live = await spawn(longSleep(503));
    const keeper = keeperOf();
    process.kill(keeper, 'SIGSTOP');
    process.kill(parentOf(live.pid), 'SIGKILL');
    process.kill(keeper, 'SIGKILL');
    const result = await live.result;
    expect(result.outcome).toEqual({ kind: 'unknown' });
    expect(result.background).toMatchObject([{ pid: live.pid }]);
    await eventually(() => expect(sleeping(503)).toEqual([]));
    expect(printed(await run('echo again'))).toBe('again\n');
  });
});

test('a stopped cradle or keeper is continued', async () => {
  const live = await spawn('sleep 0.2; exit 5');
  process.kill(parentOf(live.pid), 'SIGSTOP');
  expect((await live.result).outcome).toEqual(exited(5));
  process.kill(keeperOf(), 'SIGSTOP');
  const all = Array.from({ length: 50 }, () => run('sleep 0.01'));
  for (const { outcome } of await Promise.all(all)) expect(outcome).toEqual(exited(0));
});

test('a keeper and a cradle that were stopped together end remaining processes, once the owner is disposed of', async () => {
  const owner = newOwner();
  const { background } = await run(`setsid ${longSleep(507)} >/dev/null 2>&1 & :`, { owner });
  const cradle = parentOf(background[0]?.pid ?? 0);
  process.kill(keeperOf(), 'SIGSTOP');
  process.kill(cradle, 'SIGSTOP');
  await owner.dispose();
  expect(sleeping(507)).toEqual([]);
});

test('a stopped cradle whose keeper was killed ends its command when asked', async () => {
  const live = await spawn(longSleep(508));
  process.kill(keeperOf(), 'SIGSTOP');
  process.kill(parentOf(live.pid), 'SIGSTOP');
  await killKeeper();
  expect(await live.kill()).toMatchObject({ outcome: { kind: 'cancelled' }, background: [] });
  expect(sleeping(508)).toEqual([]);
});

test('signals sent to all processes do not end a keeper, nor its commands', async () => {
  const live = await spawn('sleep 0.5; exit 6');
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
    process.kill(keeperOf(), signal);
    process.kill(parentOf(live.pid), signal);
  }
  expect((await live.result).outcome).toEqual(exited(6));
});

test('idle cradles of a burst end, and the remaining ones use no CPU time', async () => {
  await Promise.all(Array.from({ length: 64 }, () => run('sleep 0.2')));
  const keeper = keeperOf();
  expect(childrenOf(keeper).length).toBeGreaterThan(4);
  await eventually(() => expect(childrenOf(keeper).length).toBeLessThanOrEqual(2), 30_000);
  await sleep(1000);
  const ours = [keeper, ...childrenOf(keeper)];
  expect(ours).toHaveLength(3);
  const switches = () =>
    ours.map((pid) => readFileSync(`/proc/${pid}/status`, 'utf8').match(/^voluntary.*/m)?.[0]);
  const before = switches();
  await sleep(6000);
  expect(switches()).toEqual(before);
  expect((await run('exit 9')).outcome).toEqual(exited(9));
});

describe('the program', () => {
  let copy = '';
  beforeAll(() => {
    copy = publicCopy(folder.file('copy'));
  });

  test('on a file system without execute permission, it is run from memory', () =>
    runsFromMemory(''));

  test.each([
    ['also where a file in memory has to say that it is one', '1'],
    ['and where that is forbidden too, the call is named', '2'],
  ])('the same, %s (N10)', where(ROOT), (_, ban) => runsFromMemory(ban));

  async function runsFromMemory(ban: string): Promise<void> {
    const place = folder.file(`noexec${ban}`);
    mkdirSync(place);
    // The keeper alone: a library can't be mapped from there either.
    const keeper = join(copy, 'native/prebuilt/linux-x64-gnu/forkline-keeper');
    const mount = [
      `mount -t tmpfs none ${place}`,
      `cp ${keeper} ${place}`,
      // In a user's own namespace nothing but the flags of a mount can be changed.
      `mount -o remount,bind,noexec ${place}`,
      `mount --bind ${place}/forkline-keeper ${keeper}`,
      ban ? `echo ${ban} >/proc/sys/vm/memfd_noexec` : 'true',
      'exec "$@"',
    ].join(' && ');
    const under = namespaces('-mpf', '--mount-proc', '--kill-child', 'sh', '-c', mount, 'sh');
    const host = startHost('commands', { under, from: copy });
    const { result, error } = await host.run('echo hi');
    if (ban === '2') {
      expect(error).toMatchObject({ name: 'LaunchError', code: 'EACCES', step: 'keeper' });
      expect(error?.message).toContain(
        'forkline-keeper, which may not be executed where it is (noexec?)',
      );
      expect(error?.message).toContain('memfd_create');
    } else {
      expect(error).toBeUndefined();
      expect(result?.output).toMatchObject({ text: 'hi\n' });
    }
    host.child.stdin?.end();
    await host.ended;
  }

  test('that is missing is an error that names it', async () => {
    const bare = publicCopy(folder.file('bare'));
    rmSync(join(bare, 'native/prebuilt/linux-x64-gnu/forkline-keeper'));
    const host = startHost('commands', { from: bare });
    const { error } = await host.run('true');
    host.child.stdin?.end();
    await host.ended;
    expect(error).toEqual({
      name: 'LaunchError',
      code: 'ENOENT',
      step: 'keeper',
      message: 'ENOENT: cannot start forkline-keeper: No such file or directory',
    });
  });

  test('that ends at once is an error, not a hang', async () => {
    const broken = publicCopy(folder.file('broken'));
    const keeper = join(broken, 'native/prebuilt/linux-x64-gnu/forkline-keeper');
    rmSync(keeper);
    cpSync(execFileSync('which', ['true'], { encoding: 'utf8' }).trim(), keeper);
    chmodSync(keeper, 0o755);
    const host = startHost('commands', { from: broken });
    const { error } = await host.run('true');
    host.child.stdin?.end();
    await host.ended;
    expect(error).toMatchObject({ name: 'LaunchError', step: 'keeper' });
  });
});

test('processes left by a command live on when the keeper is killed, and end with the owner', async () => {
  const owner = newOwner();
  const result = await run(`setsid ${longSleep(504)} >/dev/null 2>&1 & :`, { owner });
  const [left] = result.background;
  await killKeeper();
  await run('true');
  expect(lives(left?.pid ?? 0)).toBe(true);
  await owner.dispose();
  expect(sleeping(504)).toEqual([]);
});

test('owners in one host are independent, however many', async () => {
  const [mine, other] = [createOwner(), newOwner()];
  await run(`setsid ${longSleep(505)} & :`, { owner: mine });
  await run(`setsid ${longSleep(506)} & :`, { owner: other });
  await mine.dispose();
  expect([sleeping(505).length, sleeping(506).length]).toEqual([0, 1]);
});
