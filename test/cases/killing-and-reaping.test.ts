import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBashTool, run, spawn } from '../../src/index.js';
import { daemon, longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { descriptors, where } from '../support/needs.js';
import { eventually, isGone, lives, zombiesOf } from '../support/processes.js';
import { exited, failureOf, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const newOwner = useOwners();

const timedOut = (details: object) => ({ kind: 'timedOut', timeoutMs: 1000, ...details });
const byTerm = { kind: 'signaled', signal: 'SIGTERM' };

test('B1: a deadline ends the children of a nested shell too', async () => {
  const nap = longSleep(301);
  const result = await run(`bash -c '${nap} & ${nap}'`, { timeoutMs: 1000 });
  expect(sleeping(301)).toEqual([]);
  expect(result.outcome).toEqual(timedOut({ forced: false, ending: byTerm }));
  expect(result.background).toEqual([]);
});

test('B2: a deadline ends a child that left the session', async () => {
  const nap = longSleep(302);
  const result = await run(`setsid ${nap} & ${nap}`, { timeoutMs: 1000 });
  expect(sleeping(302)).toEqual([]);
  expect(result.outcome).toEqual(timedOut({ forced: false, ending: byTerm }));
});

test('B3: a deadline ends a daemon that is a child of init and holds no pipe', async () => {
  const pidFile = folder.file('daemon.pid');
  const wait = `until [ -s ${pidFile} ]; do sleep 0.01; done; sleep 303`;
  const result = await run(`${daemon(pidFile)}; ${wait}`, { timeoutMs: 1000 });
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(pid).toBeGreaterThan(1);
  expect(isGone(pid)).toBe(true);
  expect(result.outcome).toEqual(timedOut({ forced: false, ending: byTerm }));
});

test('B3: a daemon outlives its command, and is ended with its owner', async () => {
  const owner = newOwner();
  const pidFile = folder.file('served.pid');
  const wait = `until [ -s ${pidFile} ]; do sleep 0.01; done`;
  const result = await run(`${daemon(pidFile)}; ${wait}`, { owner });
  expect(result.outcome).toEqual(exited(0));
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(lives(pid)).toBe(true);
  await owner.dispose();
  expect(isGone(pid)).toBe(true);
});

test('B4: a command that ignores SIGTERM is killed after its grace period, and the result says so', async () => {
  const command = `trap '' TERM; ${longSleep(304)}`;
  const result = await run(command, { timeoutMs: 1000, graceMs: 1000 });
  expect(sleeping(304)).toEqual([]);
  const ending = { kind: 'signaled', signal: 'SIGKILL' };
  expect(result.outcome).toEqual(timedOut({ forced: true, ending }));
  expect(result.durationMs).toBeGreaterThanOrEqual(2000);
});

test('B4: a stopped command acts on SIGTERM', async () => {
  const result = await run('kill -STOP $$; echo not reached', { timeoutMs: 1000 });
  expect(result.outcome).toMatchObject(timedOut({ forced: false, ending: byTerm }));
});

test('B5: a command that cleans up on SIGTERM has timed out, with its last output', async () => {
  const command = `trap 'echo bye; exit 3' TERM; ${longSleep(305)} & wait`;
  const result = await run(command, { timeoutMs: 1000 });
  expect(printed(result)).toBe('bye\n');
  expect(result.outcome).toEqual(timedOut({ forced: false, ending: exited(3) }));
  expect(sleeping(305)).toEqual([]);
});

test('B5: a command that traps SIGTERM and exits with 0 is no success', async () => {
  const result = await run("trap 'exit 0' TERM; sleep 305 & wait", { timeoutMs: 1000 });
  expect(result.outcome).toEqual(timedOut({ forced: false, ending: exited(0) }));
});

test('B6: a command that kills itself was killed, with its output before', async () => {
  const result = await run('echo before; kill -9 $$');
  expect(printed(result)).toBe('before\n');
  expect(result.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
});

test('B6: the workspace contract never reports it as success', async () => {
  const tool = createBashTool({ contract: 'workspace', cwd: folder.path });
  expect(await failureOf(tool.execute({ command: 'echo before; kill -9 $$' }))).toMatchObject({
    kind: 'noStatus',
    message: expect.stringMatching(
      /^before\n\nWall time: .*\n\nCommand failed: missing exit status \(killed by SIGKILL\)$/,
    ),
  });
  await tool.dispose();
});

test('B7: pkill -f does not find the shell by the text of its command', async () => {
  const nap = longSleep(3979);
  const result = await run(`${nap} & sleep .2; pkill -f '${nap}'; echo alive`);
  expect(result.outcome).toEqual(exited(0));
  expect(printed(result)).toMatch(/alive\n$/);
  expect(sleeping(3979)).toEqual([]);
});

test('B7: pkill -f does not find it when the text is long, or has a single program', async () => {
  const filler = `: ${'x'.repeat(200_000)}\n`;
  for (const start of [filler, ':;']) {
    const result = await run(`${start} pgrep -f forkline-cannot-be-found''-here; echo rc=$?`);
    expect(printed(result)).toBe('rc=1\n');
  }
});

test('B8: a deadline ends a child that has neither the session nor the environment', async () => {
  const nap = longSleep(306);
  const result = await run(`env -i setsid ${nap} & ${nap}`, { timeoutMs: 1000 });
  expect(sleeping(306)).toEqual([]);
  expect(result.outcome).toMatchObject(timedOut({ ending: byTerm }));
});

test('B8: disposal ends it, after the command itself has ended', async () => {
  const owner = newOwner();
  await run(`env -i setsid ${longSleep(308)} & echo started`, { owner });
  expect(sleeping(308)).toHaveLength(1);
  await owner.dispose();
  expect(sleeping(308)).toEqual([]);
});

test(
  'B9: two hundred orphans leave no zombie with the host',
  where(descriptors(4096)),
  async () => {
    const all = Array.from({ length: 200 }, () => run('(sleep 0.01 &)'));
    for (const result of await Promise.all(all)) expect(result.outcome).toEqual(exited(0));
    expect(zombiesOf()).toEqual([]);
  },
);

test('B10: a command cancelled before its launch never starts', async () => {
  const file = folder.file('never');
  const result = await run(`touch ${file}`, { signal: AbortSignal.abort() });
  expect(result.outcome).toEqual({
    kind: 'cancelled',
    by: 'signal',
    forced: false,
    ending: { kind: 'neverStarted' },
  });
  expect(result.pid).toBe(0);
  await sleep(100);
  expect(() => readFileSync(file)).toThrow('ENOENT');
});

test('B10: commands cancelled during their launch settle once, and leave no process', async () => {
  for (let delay = 0; delay < 20; delay += 1) {
    const controller = new AbortController();
    const call = run(longSleep(309), { signal: controller.signal });
    // From before the launching thread has the order until well after the exec.
    await sleep(delay / 4);
    controller.abort();
    expect((await call).outcome.kind).toBe('cancelled');
    expect(sleeping(309)).toEqual([]);
  }
});

test('B10: a command cancelled twice settles once', async () => {
  const live = await spawn(longSleep(310));
  const kills = [live.kill(), live.kill({ graceMs: 0 }), live.kill()];
  const results = await Promise.all([...kills, live.result]);
  for (const result of results) expect(result).toBe(results[0]);
  expect(results[0]?.outcome).toMatchObject({ kind: 'cancelled', ending: { kind: 'signaled' } });
  expect(sleeping(310)).toEqual([]);
});

test('B11: five hundred children are gone within the grace and a second', async () => {
  const nap = longSleep(307);
  const command = `for i in $(seq 500); do ${nap} & done; echo up; wait`;
  const live = await spawn(command, { graceMs: 5000 });
  for await (const { text } of live) if (text.includes('up')) break;
  // bash says 'up' once it has forked them all; each has yet to become `sleep`.
  await eventually(() => expect(sleeping(307)).toHaveLength(500));
  const started = performance.now();
  const result = await live.kill();
  expect(performance.now() - started).toBeLessThan(6000);
  expect(sleeping(307)).toEqual([]);
  expect(result.outcome).toMatchObject({ kind: 'cancelled', forced: false });
});

test(
  'B11: five hundred commands whose time is up together end without SIGKILL',
  where(descriptors(4096)),
  async () => {
    const nap = longSleep(313);
    const calls = Array.from({ length: 500 }, () => run(nap, { timeoutMs: 1000 }));
    for (const { outcome } of await Promise.all(calls)) {
      expect(outcome).toEqual(timedOut({ forced: false, ending: byTerm }));
    }
    expect(sleeping(313)).toEqual([]);
  },
);

test('B11: a child that forks while it is being ended does not survive', async () => {
  const chain = `trap '(${longSleep(311)} &)' TERM; while :; do sleep 0.05; done`;
  const result = await run(chain, { timeoutMs: 1000, graceMs: 500 });
  expect(result.outcome).toMatchObject({ kind: 'timedOut', forced: true });
  expect(sleeping(311)).toEqual([]);
});

test('B14: a known signal is sent to the group, any other name is refused', async () => {
  const live = await spawn(`${longSleep(312)} & ${longSleep(312)}`);
  await eventually(() => expect(sleeping(312)).toHaveLength(2));
  for (const name of ['0', '', 'SIGNOT', '-1', 'constructor']) {
    const refusal = live.signal(name as NodeJS.Signals);
    await expect(refusal).rejects.toThrow('signal: expected the name of a signal');
  }
  expect(await live.signal('SIGTERM')).toBe(true);
  expect((await live.result).outcome).toEqual({ kind: 'signaled', signal: 'SIGTERM' });
  await eventually(() => expect(sleeping(312)).toEqual([]));
});

test('B14: once a command has ended its group is no longer signalled', async () => {
  const live = await spawn('true');
  await live.result;
  expect(await live.signal('SIGKILL')).toBe(false);
  const { outcome } = await live.kill();
  expect(outcome).toEqual(exited(0));
});

test('B2: processes that are just leaving the group get SIGTERM as well, not only SIGKILL', async () => {
  const leaving = 'for i in $(seq 60); do setsid sleep 302 & done; wait';
  for (const delayMs of [5, 10, 15, 20, 25, 30, 35, 40, 45, 50]) {
    const live = await spawn(leaving);
    await sleep(delayMs);
    const { outcome } = await live.kill({ graceMs: 20_000 });
    expect(outcome).toMatchObject({ kind: 'cancelled', forced: false });
  }
});
