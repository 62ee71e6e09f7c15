import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Broker } from '../../src/fleet/line/broker.js';
import { BrokerLink } from '../../src/fleet/line/broker-link.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const leaseMs = 8000;

/**
 * Why a line is closed, and after how many milliseconds, when the broker answers this to all; `stalledMs`: after most
 * of the lease this process stands still for so long.
 */
async function closedAfter(answer: Uint8Array | 'nobody' | 'silence', stalledMs = 0) {
  const broker: Partial<Broker> = {
    maxPayload: 1000,
    publish: () => {},
    ask: async () => answer,
    onReconnect: () => () => {},
  };
  const link = new BrokerLink(broker as Broker, 'there', { leaseMs }, () => {});
  const begun = performance.now();
  let closed: { readonly why: string; readonly ms: number } | undefined;
  link.start({
    bytes: () => {},
    writable: () => {},
    closed: (why) => {
      closed = { why, ms: performance.now() - begun };
    },
  });
  await vi.advanceTimersByTimeAsync(0.8 * leaseMs);
  const awake = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => awake() + stalledMs);
  await vi.advanceTimersByTimeAsync(3 * leaseMs);
  link.destroy();
  clock.mockRestore();
  return closed;
}

test("a side that is gone by the broker's word is waited for a quarter of the lease (Q14)", async () => {
  const { why, ms } = (await closedAfter('nobody')) ?? {};
  expect(why).toBe('its connection to the broker is gone');
  // It is looked for eight times in a lease.
  expect(ms).toBeGreaterThanOrEqual(leaseMs / 4);
  expect(ms).toBeLessThanOrEqual(leaseMs / 2);
});

test('a silent side is waited for the whole lease, and a side that answers without a limit (Q14)', async () => {
  const { why, ms } = (await closedAfter('silence')) ?? {};
  expect(why).toBe('nothing was heard for 8 seconds');
  expect(ms).toBe(leaseMs);
  expect(await closedAfter(new Uint8Array())).toMatchObject({ why: 'it was closed here' });
});

test('time in which this process stood still is no silence of the other side', async () => {
  expect(await closedAfter('silence', 10 * leaseMs)).toEqual({
    why: 'nothing was heard for 8 seconds',
    ms: 11 * leaseMs,
  });
  expect(await closedAfter(new Uint8Array(), 10 * leaseMs)).toMatchObject({
    why: 'it was closed here',
  });
});
