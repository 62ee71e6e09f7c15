import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FrameClock } from '../../src/terminal/frame-clock.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first frame comes at once, the others 33 ms apart at least, and none without a reason', async () => {
  const at: number[] = [];
  const clock = new FrameClock(async () => void at.push(performance.now()));
  const start = performance.now();
  for (let count = 0; count < 20; count += 1) {
    clock.tick();
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(at[0]).toBe(start);
  expect(at.length).toBeGreaterThan(4);
  for (const [index, time] of at.slice(1).entries())
    expect(time - (at[index] ?? 0)).toBeGreaterThanOrEqual(33);
  expect(at.at(-1)).toBeLessThan(start + 300);
});

test('a frame waits for the one before, however long that takes, and the last change is drawn', async () => {
  let [drawing, drawn] = [0, 0];
  const clock = new FrameClock(async () => {
    drawing += 1;
    expect(drawing).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    drawing -= 1;
    drawn += 1;
  });
  clock.tick();
  await vi.advanceTimersByTimeAsync(100);
  clock.tick();
  clock.tick();
  await vi.advanceTimersByTimeAsync(2000);
  expect(drawn).toBe(2);
});

test('finish() draws a frame that is due, and none after it', async () => {
  let drawn = 0;
  const clock = new FrameClock(async () => {
    drawn += 1;
  });
  clock.tick();
  await vi.advanceTimersByTimeAsync(1);
  clock.tick();
  await clock.finish();
  expect(drawn).toBe(2);
  clock.tick();
  await clock.finish();
  await vi.advanceTimersByTimeAsync(1000);
  expect(drawn).toBe(2);
});
