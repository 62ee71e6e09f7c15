import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { createOwner, type RunResult, run } from '../../src/index.js';
import { textIn } from '../options/ways.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

// Starts are held back while other commands are young: 30 ms each, with one at a time.
leavesNothingBehind();
const folder = useFolder();

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Returns how many were cancelled before they were started, or after. */
const cancelled = (ended: readonly PromiseSettledResult<RunResult>[]): number =>
  ended.filter((one) => one.status === 'rejected' || one.value.outcome.kind === 'cancelled').length;

test('commands start in the order of their calls', async () => {
  const results = await Promise.all(
    many(8, () => run('date +%s%3N; sleep .3', { startsAtOnce: 1 })),
  );
  const starts = results.map((result) => Number(textIn(result)));
  // A shell may take longer to begin than the next one waits.
  for (const [index, start] of starts.slice(3).entries()) {
    expect(start).toBeGreaterThan(starts[index] ?? Number.NaN);
  }
});

test('the time that a command waits is none of its own', async () => {
  const calls = many(60, () => run('sleep .1', { startsAtOnce: 1, timeoutMs: 1200 }));
  const begun = performance.now();
  const results = await Promise.all(calls);
  expect(performance.now() - begun).toBeGreaterThan(1500);
  expect(results.map(({ outcome }) => outcome.kind)).toEqual(many(60, () => 'exited'));
  expect(Math.max(...results.map(({ durationMs }) => durationMs))).toBeLessThan(1200);
});

test.each(['a signal', 'an owner'])('%s ends commands that wait, at once', async (by) => {
  const [owner, ending] = [createOwner(), new AbortController()];
  const given = by === 'an owner' ? { owner } : { owner, signal: ending.signal };
  // The last would start after nine seconds.
  const calls = many(300, () => run('sleep 30', { ...given, startsAtOnce: 1 }));
  const all = Promise.allSettled(calls);
  await run('true', { startsAtOnce: 1000 });
  const begun = performance.now();
  if (by === 'an owner') await owner.dispose();
  else ending.abort();
  expect(cancelled(await all)).toBe(300);
  expect(performance.now() - begun).toBeLessThan(5000);
  await owner.dispose();
});

test('commands that wait for a later one all come to run', async () => {
  const gate = folder.file('gate');
  const wait = `until [ -e '${gate}' ]; do sleep .05; done; echo went`;
  const waiting = many(6 * availableParallelism(), () => run(wait));
  await run(`touch '${gate}'`);
  for (const result of await Promise.all(waiting)) expect(textIn(result)).toBe('went\n');
});

test('a command that others wait for is started beside as many as it says', async () => {
  const others = many(100, () => run('sleep .2', { startsAtOnce: 1 }));
  const begun = performance.now();
  await run('true', { startsAtOnce: 1_000_000 });
  expect(performance.now() - begun).toBeLessThan(1500);
  await Promise.all(others);
});

test.each([0, -1, 1.5, Number.POSITIVE_INFINITY, 1_000_001, '4', null])(
  'startsAtOnce of %j is refused',
  async (startsAtOnce) => {
    const call = run('true', { startsAtOnce } as object);
    const expected = 'startsAtOnce: expected a whole number from 1 to 1000000, got ';
    if (startsAtOnce === null) expect((await call).outcome.kind).toBe('exited');
    else await expect(call).rejects.toThrow(expected);
  },
);
