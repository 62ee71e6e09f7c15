import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectFleet, type FleetOptions, type WaitingPlace } from '../../src/fleet/index.js';
import { Broker } from '../../src/fleet/line/broker.js';
import { longSleep, quote, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder, useFolder } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { exited, failureOf, printed } from '../support/results.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a call that finds all workers busy', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const folder = useFolder();
  const nats = await useNats(makeFolder());
  const connect = async (options: Partial<FleetOptions> = {}) =>
    keep(await connectFleet({ servers: nats.url, leaseMs: 4000, ...options }));

  /** A worker with one place, which is taken until `free()`. */
  async function full(fleet: Awaited<ReturnType<typeof connect>>) {
    await startWorker(nats.url, ['--capacity', '1']);
    const controller = new AbortController();
    const busy = fleet.run(longSleep(232), { signal: controller.signal });
    await eventually(() => expect(sleeping(232)).toHaveLength(1));
    return {
      free: async () => {
        controller.abort();
        await busy;
      },
    };
  }

  test('R7: waits for its turn, is told of its place, and runs in the order of the calls', async () => {
    const fleet = await connect();
    const { free } = await full(fleet);
    const file = folder.file('order');
    const told: WaitingPlace[][] = [];
    const calls = Array.from({ length: 5 }, (_, index) => {
      told[index] = [];
      const onWaiting = (place: WaitingPlace) => void told[index]?.push(place);
      return fleet.run(`echo ${index} >>${quote(file)}`, { onWaiting });
    });
    await eventually(() => expect(told[3]?.at(-1)).toEqual({ place: 4, of: 5 }));
    await free();
    const results = await Promise.all(calls);
    expect(results.map(({ outcome }) => outcome)).toEqual(calls.map(() => exited(0)));
    expect(readFileSync(file, 'utf8')).toBe('0\n1\n2\n3\n4\n');
    expect(told[0]?.[0]).toEqual({ place: 1, of: 5 });
  });

  test('R7: 500 runs at once on 8 places: none is refused, each runs once', async () => {
    await startWorker(nats.url, ['--capacity', '4']);
    await startWorker(nats.url, ['--capacity', '4']);
    const fleet = await connect();
    const file = folder.file('ran');
    writeFileSync(file, '');
    const ids = Array.from({ length: 500 }, (_, index) => String(index));
    await Promise.all(ids.map((id) => fleet.run(`echo ${id} >>${quote(file)}`)));
    const ran = readFileSync(file, 'utf8').trim().split('\n');
    expect(ran.sort()).toEqual(ids.sort());
  });

  test('waits no longer than waitMs, and not at all where that is 0', async () => {
    const fleet = await connect({ waitMs: 400 });
    const { free } = await full(fleet);
    const begun = performance.now();
    expect(await failureOf(fleet.run('true'))).toMatchObject({
      name: 'BusyError',
      message: expect.stringMatching(/^All workers are busy, for \d{3} ms; nothing was started\.$/),
    });
    expect(performance.now() - begun).toBeGreaterThan(390);
    const now = performance.now();
    expect(await failureOf(fleet.run('true', { waitMs: 0 }))).toMatchObject({
      name: 'BusyError',
      message: 'All workers are busy; nothing was started.',
    });
    expect(performance.now() - now).toBeLessThan(300);
    await free();
    expect(printed(await fleet.run('echo free'))).toBe('free\n');
  });

  test('is refused when as many wait as may', async () => {
    const fleet = await connect({ maxWaiting: 2 });
    const { free } = await full(fleet);
    const told: WaitingPlace[] = [];
    const onWaiting = (place: WaitingPlace) => void told.push(place);
    const waiting = [fleet.run('echo 1'), fleet.run('echo 2', { onWaiting })];
    await eventually(() => expect(told).toContainEqual({ place: 2, of: 2 }));
    // One of the two may just be asking for a worker.
    const more = [1, 2].map(() => failureOf(fleet.run('true')));
    expect(await Promise.race(more)).toMatchObject({
      name: 'BusyError',
      message: '2 calls wait for a worker already; nothing was started.',
    });
    await free();
    expect((await Promise.all(waiting)).map(printed)).toEqual(['1\n', '2\n']);
    await Promise.all(more);
  });

  test('is cancelled while it waits, and never started', async () => {
    const fleet = await connect();
    const { free } = await full(fleet);
    const file = folder.file('never');
    const controller = new AbortController();
    const { signal } = controller;
    const before = fleet.run('echo before');
    const running = fleet.run(`echo ran >${file}`, { signal });
    const spawning = failureOf(fleet.spawn(`echo ran >${file}`, { signal }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    controller.abort(new Error('enough'));
    expect(await running).toMatchObject({
      worker: '',
      outcome: { kind: 'cancelled', by: 'signal' },
    });
    expect(await spawning).toMatchObject({ message: 'enough' });
    await free();
    expect(printed(await before)).toBe('before\n');
    expect(printed(await fleet.run(`cat ${file} 2>&1`))).toMatch(/No such file/);
  });

  test('ends with its fleet', async () => {
    const other = await connect();
    const { free } = await full(other);
    const fleet = await connectFleet({ servers: nats.url });
    const waiting = failureOf(fleet.run('true'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await fleet.dispose();
    expect(await waiting).toMatchObject({
      name: 'NoWorkerError',
      message: 'The fleet was disposed of; nothing was started.',
    });
    await free();
  });

  test('has its turn beside a client with many more', async () => {
    await startWorker(nats.url, ['--capacity', '2']);
    const [many, few] = [await connect(), await connect()];
    let left = 150;
    const all = Array.from({ length: left }, async () => {
      await many.run('sleep 0.03');
      left -= 1;
    });
    await eventually(() => expect(left).toBeLessThan(140));
    await Promise.all(Array.from({ length: 10 }, () => few.run('sleep 0.03')));
    expect(left).toBeGreaterThan(30);
    await Promise.all(all);
  });

  test.each([
    [{ waitMs: -1 }, /^waitMs: expected a number .*, got -1$/],
    [{ waitMs: 'long' }, /^waitMs: expected a number/],
    [{ onWaiting: 5 }, /^onWaiting: expected a function, got 5$/],
  ])('its options are checked: %o', async (options, message) => {
    const fleet = await connect();
    const error = await failureOf(fleet.run('true', options as object));
    expect(error).toMatchObject({ name: 'InputError', message: expect.stringMatching(message) });
  });
});

describe('calls with labels', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());
  const labels = { zone: 'a', gpu: 'a100' };
  const flags = ['--label', 'zone=a', '--label', 'gpu=a100', '--label', 'disk=ssd'];

  test('R6: 100 at once on 256 free places: none is refused, and all workers have some', async () => {
    const workers = [];
    for (let count = 0; count < 4; count += 1) workers.push(await startWorker(nats.url, flags));
    await startWorker(nats.url, ['--label', 'zone=b']);
    const fleet = keep(await connectFleet({ servers: nats.url, waitMs: 0 }));
    // A line that is there already is for one of them.
    await fleet.run('true', { labels });
    const runs = Array.from({ length: 100 }, () => fleet.run('sleep 0.5', { labels }));
    const results = await Promise.all(runs);
    const used = new Set(results.map(({ worker }) => worker));
    expect([...used].sort()).toEqual(workers.map(({ id }) => id).sort());
  });

  test('R6: a search is one question, whatever the number of workers; the next call needs none', async () => {
    for (let count = 0; count < 4; count += 1) await startWorker(nats.url, flags);
    const asks = vi.spyOn(Broker.prototype, 'ask');
    const asked = () => asks.mock.calls.filter(([to]) => to.startsWith('forkline.')).length;
    const fleet = keep(await connectFleet({ servers: nats.url }));
    await fleet.run('true', { labels });
    expect(asked()).toBe(1);
    await fleet.run('true', { labels });
    expect(asked()).toBe(1);
  });

  test('go where all of them can run at once: load decides', async () => {
    for (let count = 0; count < 4; count += 1) {
      await startWorker(nats.url, [...flags, '--capacity', '4']);
    }
    const fleet = keep(await connectFleet({ servers: nats.url, waitMs: 0 }));
    const counts = new Map<string, number>();
    for (let round = 0; round < 4; round += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      const runs = [];
      for (let count = 0; count < 4; count += 1) {
        runs.push(fleet.run(longSleep(233), { labels, signal }));
        await eventually(() => expect(sleeping(233)).toHaveLength(count + 1));
      }
      controller.abort();
      const used = (await Promise.all(runs)).map(({ worker }) => worker);
      // One that had nothing to do was there for each.
      expect(new Set(used).size).toBe(4);
      for (const worker of used) counts.set(worker, (counts.get(worker) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    expect([...counts.values()]).toEqual([4, 4, 4, 4]);
  });

  test('are found by at most six of them, and a seventh is an error', async () => {
    const seven = ['1', '2', '3', '4', '5', '6', '7'].flatMap((name) => ['--label', `l${name}=x`]);
    expect(await failureOf(startWorker(nats.url, seven))).toMatchObject({
      message: expect.stringMatching(/labels: expected at most 6, got 7/),
    });
  });
});
