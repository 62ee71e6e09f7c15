import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { spawn } from '../../src/index.js';
import { connect } from '../../src/remote/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { printedBy, untilState, useTasks } from '../support/detached-tasks.js';
import { FAR_SIDE, STATIC_FAR } from '../support/far.js';
import { type Host, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { childrenOf, eventually, isGone, keeperOf, lives, parentOf } from '../support/processes.js';
import { exited, printed } from '../support/results.js';

// What a command, or anybody else of its user, does to the processes that look after it.
const tasks = useTasks();
leavesNothingBehind();

/** Sends them every signal that can be caught; those of the C library's own among them. */
const everySignal = (whom: string) =>
  `perl -e 'for $s (1..64) { kill $s, @ARGV unless $s == 9 || $s == 19 }' ${whom}`;
const KEEPER = '$(cut -d" " -f4 /proc/$PPID/stat)';

describe('any signal that can be caught, sent to keeper or cradle, changes nothing (N1)', () => {
  const roads: [string, string, object][] = [
    ['a command', KEEPER, {}],
    ['one on a terminal', KEEPER, { pty: true }],
    ['one that is followed', KEEPER, { followDirectory: true }],
    ['one in a sandbox, whose keeper is its first process', '1', { sandbox: 'workspace-write' }],
  ];

  test.each(roads)('%s', async (_, keeper, given) => {
    const cwd = tasks.folder.file('work');
    mkdirSync(cwd, { recursive: true });
    const options = { cwd, ...given };
    const host = startHost('commands');
    const text = `${everySignal(`$PPID ${keeper}`)}; sleep 0.3; echo went on; exit 7`;
    for (let count = 0; count < 3; count += 1) {
      const { result } = await host.run(text, options);
      expect(result?.outcome).toEqual(exited(7));
      expect(result?.background).toEqual([]);
      expect(result?.output).toMatchObject({ text: expect.stringMatching(/^went on\r?\n$/) });
      expect((await host.run('exit 3', options)).result?.outcome).toEqual(exited(3));
    }
    host.child.stdin?.end();
    await host.ended;
  });

  test('a detached command', async () => {
    const subject = await tasks.start(`${everySignal('$PPID')}; sleep 0.3; echo went on; exit 7`);
    await untilState(subject, 'ended');
    expect(subject.state).toMatchObject({ receipt: { outcome: exited(7) } });
    expect(await printedBy(subject)).toContain('went on\n');
  });

  const fars = [FAR_SIDE, ...(existsSync(STATIC_FAR) ? [[STATIC_FAR, 'serve', '--stdio']] : [])];
  test.each(fars.map((command) => [command[0], command]))('a far side: %s', async (_, command) => {
    await using far = await connect({ command });
    const text = `${everySignal(`$PPID ${KEEPER}`)}; sleep 0.3; echo went on; exit 7`;
    const result = await far.run(text);
    expect([result.outcome, printed(result)]).toEqual([exited(7), 'went on\n']);
    expect(printed(await far.run('echo hi'))).toBe('hi\n');
  });
});

/** A host with a command under way, and those who look after that. */
async function hostWith(command: string, seconds: number) {
  const host = startHost('commands');
  await host.run('true');
  host.run(command).catch(() => {});
  const [leader = 0] = await eventually(() => {
    const [nap] = sleeping(seconds);
    expect(nap).toBeDefined();
    return [parentOf(nap ?? 0)];
  });
  const keeper = keeperOf(Number(host.child.pid));
  const cradle = parentOf(leader);
  expect(parentOf(cradle)).toBe(keeper);
  return { host, keeper, cradle, leader, crew: [keeper, ...childrenOf(keeper)] };
}

async function killHost(host: Host): Promise<void> {
  host.child.kill('SIGKILL');
  await host.ended;
}

async function allAreGone(pids: readonly number[], seconds: number): Promise<void> {
  await eventually(() => expect(pids.filter(lives)).toEqual([]), 30_000);
  expect(sleeping(seconds)).toEqual([]);
}

describe('a keeper or cradle that is stopped when the host ends is continued, and ends its command (N6, N7)', () => {
  test.each([
    ['keeper', 801],
    ['cradle', 802],
    ['keeper and cradle', 803],
  ])('%s', async (whose, seconds) => {
    const { host, keeper, cradle, leader, crew } = await hostWith(
      `${longSleep(seconds)}; :`,
      seconds,
    );
    if (whose.includes('keeper')) process.kill(keeper, 'SIGSTOP');
    if (whose.includes('cradle')) process.kill(cradle, 'SIGSTOP');
    await killHost(host);
    await allAreGone([leader, ...crew], seconds);
  });

  test('a cradle whose keeper was killed before', async () => {
    const { host, keeper, cradle, leader } = await hostWith(`${longSleep(804)}; :`, 804);
    process.kill(keeper, 'SIGKILL');
    await eventually(() => expect(parentOf(cradle)).not.toBe(keeper));
    process.kill(cradle, 'SIGSTOP');
    await killHost(host);
    await allAreGone([leader, cradle], 804);
  });
});

describe('a command that is stopped when keeper and cradle are killed ends (N7)', () => {
  test.each([
    ['and the host goes on', 811],
    ['and the host is killed, too', 812],
  ])('%s', async (how, seconds) => {
    const { host, keeper, cradle, leader } = await hostWith(`${longSleep(seconds)}; :`, seconds);
    const [nap = 0] = sleeping(seconds);
    process.kill(-leader, 'SIGSTOP');
    // So that it can't see to the command first.
    process.kill(keeper, 'SIGSTOP');
    process.kill(cradle, 'SIGKILL');
    process.kill(keeper, 'SIGKILL');
    if (how.includes('too')) await killHost(host);
    await eventually(() => expect(isGone(leader)).toBe(true));
    // A daemon of it, as far as anybody knows: it goes on.
    process.kill(nap, 'SIGKILL');
    host.child.stdin?.end();
    await host.ended;
  });

  test('with its grace period, where the keeper can end it', async () => {
    const file = tasks.folder.file('tidied');
    const tidying = `trap 'sleep 0.7; echo tidied >${file}; exit' TERM; ${longSleep(813)} & wait`;
    const live = await spawn(tidying);
    await eventually(() => expect(sleeping(813)).toHaveLength(1));
    const cradle = parentOf(live.pid);
    process.kill(-live.pid, 'SIGSTOP');
    process.kill(cradle, 'SIGKILL');
    expect((await live.result).outcome.kind).toBe('unknown');
    await eventually(() => expect(sleeping(813)).toEqual([]));
    expect(readFileSync(file, 'utf8')).toBe('tidied\n');
  });
});

/** How long it has been running on a processor, in hundredths of a second. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user + system;
}

describe('a keeper or cradle without descriptors uses no CPU time, and ends its command with the host (N5)', () => {
  const limit = (pid: number) => execFileSync('prlimit', ['--pid', `${pid}`, '--nofile=0:0']);

  test.each([
    ['keeper', 821],
    ['cradle', 822],
    ['keeper and cradle', 823],
  ])('%s', async (whose, seconds) => {
    // Ended after its grace, two seconds; so there is something to look at.
    const { host, keeper, cradle, leader, crew } = await hostWith(
      `trap '' TERM; ${longSleep(seconds)} & wait; ${longSleep(seconds)}`,
      seconds,
    );
    if (whose.includes('keeper')) limit(keeper);
    if (whose.includes('cradle')) limit(cradle);
    await killHost(host);
    const ticks = () => ticksOf(keeper) + ticksOf(cradle);
    await sleep(200);
    const before = ticks();
    await sleep(1200);
    // One that spins takes a hundred in a second.
    expect(ticks() - before).toBeLessThan(30);
    await allAreGone([leader, ...crew], seconds);
  });

  test('a detached command goes on, and its end is reported', async () => {
    const subject = await tasks.start(`prlimit --pid $PPID --nofile=0:0; sleep 1.5; exit 7`);
    await untilState(subject, 'ended');
    expect(subject.state).toMatchObject({ receipt: { outcome: exited(7) } });
  });
});
