import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TailUpdates } from '../../src/contracts/tail-updates.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function collect(maxBytes = 100) {
  const seen: string[] = [];
  const updates = new TailUpdates({ maxBytes, intervalMs: 50, emit: (tail) => seen.push(tail) });
  const push = (text: string, droppedBytes = 0) =>
    updates.push({ stream: 'output', text, droppedBytes });
  return { seen, updates, push };
}

test('the first output comes at once, the rest at most every 50 ms', () => {
  const { seen, push } = collect();
  push('a');
  push('b');
  push('c');
  expect(seen).toEqual(['a']);
  vi.advanceTimersByTime(49);
  expect(seen).toEqual(['a']);
  vi.advanceTimersByTime(1);
  expect(seen).toEqual(['a', 'abc']);
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual(['a', 'abc']);
  push('d');
  expect(seen).toEqual(['a', 'abc', 'abcd']);
});

test('nothing comes after the stop', () => {
  const { seen, updates, push } = collect();
  push('a');
  push('b');
  updates.stop();
  push('c');
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual(['a']);
});

test('an update has the last output only, from a whole character on', () => {
  const { seen, push } = collect(7);
  push('中'.repeat(10));
  expect(seen).toEqual(['中中']);
});

test('a gap is told of', () => {
  const { seen, push } = collect();
  push('before');
  vi.advanceTimersByTime(50);
  push('after', 2048);
  expect(seen.at(-1)).toBe('[… 2.0KB not shown …]\nafter');
});
