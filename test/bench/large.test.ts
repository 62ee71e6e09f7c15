import { expect, test } from 'vitest';
import { simulate } from '../../bench/lib/large/simulation.mjs';

// P23: the simulation of a large machine, where its answer is known.
const shares = { main: 60, launcher: 50, reactor: 30, command: 1000 };
const machine = { processors: 64, mainThreads: 1, lanes: 512, commands: 20_000 };
/** Exponential times are right to about a hundredth over so many. */
const near = (value: number, right: number) => {
  expect(value).toBeGreaterThan(right * 0.96);
  expect(value).toBeLessThan(right * 1.04);
};

test('one command at a time takes the sum of its steps', () => {
  near(simulate(shares, { ...machine, lanes: 1 }), 1e6 / 1140);
});

test.each([
  ['the main thread', {}, 1e6 / 60],
  ['the launcher, with more main threads', { mainThreads: 4 }, 1e6 / 50],
  ['the processors, where they are few', { processors: 4 }, 4e6 / 1000],
])('with many in flight %s bounds them', (_, other, right) => {
  near(simulate(shares, { ...machine, ...other }), right);
});
