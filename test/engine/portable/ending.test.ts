import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createOwner, run, spawn } from '../../../src/index.js';
import { daemon, longSleep, sleeping } from '../../support/commands.js';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually, isGone, lives } from '../../support/processes.js';
import { exited, printed } from '../../support/results.js';
import { textUntil } from '../../support/streams.js';

vi.stubEnv('FORKLINE_ENGINE', 'portable');
leavesNothingBehind();
const folder = useFolder();

test('a result of the portable engine names it, and has no figures that it does not measure', async () => {
  const result = await run('echo $$');
  expect(result).toEqual({
    command: 'echo $$',
    pid: Number(printed(result)),
    outcome: exited(0),
    durationMs: expect.any(Number),
    engine: 'portable',
    output: expect.anything(),
    background: [],
    heldBack: [],
  });
});

test('a command and all in its group end on abort and at the deadline', async () => {
  const command = `${longSleep(701)} & (${longSleep(701)} & wait) & echo up; wait`;
  const controller = new AbortController();
  const onOutput = () => controller.abort();
  const aborted = await run(command, { signal: controller.signal, onOutput });
  expect(aborted.outcome).toMatchObject({ kind: 'cancelled', by: 'signal', forced: false });
  expect(sleeping(701)).toEqual([]);
  const late = await run(command, { timeoutMs: 300 });
  expect(late.outcome).toMatchObject({ kind: 'timedOut', forced: false });
  expect(sleeping(701)).toEqual([]);
});

test('a process that has left the group ends with the command, as long as its parent runs', async () => {
  const live = await spawn(`setsid ${longSleep(702)} & echo up; wait`);
  await textUntil(live, 'up');
  await eventually(() => expect(sleeping(702)).toHaveLength(1));
  expect((await live.kill()).outcome).toMatchObject({ kind: 'cancelled' });
  expect(sleeping(702)).toEqual([]);
});

test('a process that ignores SIGTERM is killed after the grace period, in the group and outside', async () => {
  const deaf = `trap '' TERM; echo up; while :; do sleep 0.1; done`;
  const live = await spawn(`setsid bash -c "${deaf}" & ${deaf}`, { graceMs: 300 });
  let text = '';
  for await (const chunk of live) {
    text += chunk.text;
    if (text === 'up\nup\n') break;
  }
  expect((await live.kill()).outcome).toMatchObject({ kind: 'cancelled', forced: true });
});

test('processes that a command leaves in its group are listed, and end with its owner', async () => {
  const owner = createOwner();
  const nap = longSleep(703);
  const { background, pid } = await run(`${nap} & echo hi`, { owner });
  expect(background).toEqual([{ pid: expect.any(Number), processGroup: pid, command: nap }]);
  expect(lives(background[0]?.pid ?? 0)).toBe(true);
  await owner.dispose();
  expect(sleeping(703)).toEqual([]);
});

test('a daemon that has left its command is not found, which the documentation says', async () => {
  const file = folder.file('daemon');
  const owner = createOwner();
  const { background } = await run(`${daemon(file)}; while ! [ -s ${file} ]; do sleep 0.01; done`, {
    owner,
  });
  const pid = Number(readFileSync(file, 'utf8'));
  await owner.dispose();
  expect([background, lives(pid)]).toEqual([[], true]);
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(isGone(pid)).toBe(true));
});

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'the groups of a host that is ended by %s end with it',
  async (signal) => {
    const host = startHost('commands', { env: { FORKLINE_ENGINE: 'portable' } });
    void host.run(`${longSleep(704)} & wait`).catch(() => {});
    await eventually(() => expect(sleeping(704)).toHaveLength(1));
    host.child.kill(signal);
    await host.ended;
    await eventually(() => expect(sleeping(704)).toEqual([]));
  },
);

test('a host that is done exits by itself, whatever processes its commands have left', async () => {
  const host = startHost('commands', {
    env: { FORKLINE_ENGINE: 'portable' },
    args: [JSON.stringify({ command: `${longSleep(705)} & echo hi`, options: {} })],
  });
  expect(await host.next()).toMatchObject({ result: { engine: 'portable' } });
  expect(await host.ended).toEqual({ code: 0, signal: null });
  await eventually(() => expect(sleeping(705)).toEqual([]));
});

test('many commands that end at once leave no process', async () => {
  const calls = Array.from({ length: 60 }, (_, index) =>
    run(`${longSleep(706)} & sleep 0.0${index % 7}; kill $!`, { timeoutMs: 5000 }),
  );
  await sleep(50);
  for (const { outcome } of await Promise.all(calls)) expect(outcome).toEqual(exited(0));
  expect(sleeping(706)).toEqual([]);
});

const isLinux = process.platform === 'linux';

test.runIf(isLinux)('a pipeline ends from the left, so that its last program prints', async () => {
  const hangs = `(echo a; echo b; ${longSleep(707)})`;
  for (const [command, text] of [
    [`${hangs} | tail -1`, 'b\n'],
    [`${hangs} | grep -v a | sort; echo after`, 'b\n'],
    [`${hangs} | { cat; echo after; }`, 'a\nb\n'],
  ] as const) {
    const result = await run(command, { timeoutMs: 1500, graceMs: 4000 });
    expect(printed(result)).toBe(text);
    expect(result.outcome).toMatchObject({ kind: 'timedOut', forced: false });
  }
  const deaf = `bash -c 'trap "" TERM; echo kept; while :; do sleep 0.2; done' | tail -1`;
  const result = await run(deaf, { timeoutMs: 1500, graceMs: 4000 });
  expect(printed(result)).toBe('kept\n');
  expect(result.outcome).toMatchObject({ kind: 'timedOut', forced: true });
  expect(sleeping(707)).toEqual([]);
});
