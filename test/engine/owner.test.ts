import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createOwner, run, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { exited, failureOf } from '../support/results.js';

leavesNothingBehind();

test('disposal cancels running commands, ends remaining processes, and resolves when all are gone', async () => {
  const owner = createOwner();
  await run(`${longSleep(501)} & setsid ${longSleep(501)} &`, { owner });
  const running = run(longSleep(501), { owner });
  await eventually(() => expect(sleeping(501)).toHaveLength(3));
  await owner.dispose();
  expect(sleeping(501)).toEqual([]);
  expect((await running).outcome).toEqual({
    kind: 'cancelled',
    by: 'owner',
    forced: false,
    ending: { kind: 'signaled', signal: 'SIGTERM' },
  });
});

test('disposing twice is one disposal', async () => {
  const owner = createOwner();
  const first = owner.dispose();
  expect(owner.isDisposed).toBe(true);
  expect(owner.dispose()).toBe(first);
  await first;
});

test('after disposal run() starts nothing, and spawn() rejects', async () => {
  const owner = createOwner();
  await run('true', { owner });
  await owner.dispose();
  const result = await run(longSleep(502), { owner });
  expect(result.outcome).toEqual({
    kind: 'cancelled',
    by: 'owner',
    forced: false,
    ending: { kind: 'neverStarted' },
  });
  const error = await failureOf(spawn(longSleep(502), { owner }));
  expect(error).toBeInstanceOf(Error);
  expect(sleeping(502)).toEqual([]);
});

test('an owner that was never used is disposed of, and takes no commands then', async () => {
  const owner = createOwner();
  await owner.dispose();
  expect((await run('true', { owner })).outcome.kind).toBe('cancelled');
  expect(await failureOf(spawn('true', { owner }))).toBeInstanceOf(Error);
});

test('commands that are being launched are ended too', async () => {
  const owner = createOwner();
  const calls = Array.from({ length: 50 }, () => run(longSleep(503), { owner }));
  await sleep(3);
  await owner.dispose();
  expect(sleeping(503)).toEqual([]);
  for (const { outcome } of await Promise.all(calls)) expect(outcome.kind).toBe('cancelled');
});

test('a process that ignores SIGTERM is killed after the grace period of the disposal', async () => {
  const owner = createOwner();
  const stubborn = `trap '' TERM; ${longSleep(504)}`;
  const left = `(${stubborn}) & sleep 0.1`;
  await run(left, { owner });
  const running = run(stubborn, { owner, graceMs: 600_000 });
  await eventually(() => expect(sleeping(504)).toHaveLength(2));
  await owner.dispose(300);
  expect(sleeping(504)).toEqual([]);
  expect((await running).outcome).toMatchObject({ kind: 'cancelled', forced: true });
});

test('an owner does not affect the commands of others', async () => {
  const [mine, other] = [createOwner(), createOwner()];
  const running = run('sleep 0.5; exit 3', { owner: other });
  await run('true', { owner: mine });
  await mine.dispose();
  expect((await running).outcome).toEqual(exited(3));
  await other.dispose();
});

test('leaving the scope of an await-using disposes of it', async () => {
  const owner = createOwner();
  await run(`${longSleep(505)} &`, { owner });
  await owner[Symbol.asyncDispose]();
  expect(sleeping(505)).toEqual([]);
});
