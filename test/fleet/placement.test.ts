import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectFleet, type FleetOptions } from '../../src/fleet/index.js';
import { Broker } from '../../src/fleet/line/broker.js';
import { fromJson, type PlaceRequest, toJson } from '../../src/fleet/messages.js';
import { Placement } from '../../src/fleet/placement.js';
import { newId, subjectsOf } from '../../src/fleet/subjects.js';
import { Listener } from '../../src/support/listener.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { brokerAt, startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a call', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());
  const subjects = subjectsOf('default');
  const connect = async (options: Partial<FleetOptions> = {}) =>
    keep(await connectFleet({ servers: nats.url, leaseMs: 4000, ...options }));

  /** Counts the searches of the clients in this process. */
  function countAsking(): () => number {
    const asks = vi.spyOn(Broker.prototype, 'ask');
    return () => asks.mock.calls.filter(([to]) => to.startsWith('forkline.default.place.')).length;
  }

  test('with labels goes to the worker that has least to do (Q14)', async () => {
    const names = ['one', 'two'];
    const workers = await Promise.all(
      names.map((name) => startWorker(nats.url, ['--label', 'zone=a', '--label', `of=${name}`])),
    );
    const fleet = await connect();
    for (const [index, name] of names.entries()) {
      const controller = new AbortController();
      const busy = [1, 2].map(() =>
        fleet.run(longSleep(195), { labels: { of: name }, signal: controller.signal }),
      );
      await eventually(() => expect(sleeping(195)).toHaveLength(2));
      const { worker } = await fleet.run('true', { labels: { zone: 'a' } });
      expect(worker).toBe(workers[1 - index]?.id);
      controller.abort();
      await Promise.all(busy);
      await eventually(() => expect(sleeping(195)).toEqual([]));
      // A worker is known to have nothing to do a little later.
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  });

  test('goes to the worker of an earlier call, and asks only while that worker is crowded (Q14)', async () => {
    await startWorker(nats.url, ['--capacity', '3']);
    const [fleet, other] = [await connect(), await connect()];
    const asked = countAsking();
    /** How often it was asked for the sake of one command. */
    const askedFor = async (): Promise<number> => {
      const before = asked();
      await fleet.run('true');
      return asked() - before;
    };
    expect(await askedFor()).toBe(1);
    expect(await askedFor()).toBe(0);
    const controller = new AbortController();
    const busy = [1, 2].map(() => other.run(longSleep(196), { signal: controller.signal }));
    await eventually(async () => expect(await askedFor()).toBeGreaterThan(0));
    controller.abort();
    await Promise.all(busy);
    await eventually(async () => expect(await askedFor()).toBe(0));
  });

  test('goes elsewhere, or asks, once the worker that it knows has had no room (Q14)', async () => {
    await startWorker(nats.url);
    const placement = new Placement(
      await brokerAt(nats.url),
      subjects,
      { leaseMs: 4000, maxBytes: 1e8, maxWaiting: 1 },
      () => {},
    );
    keep(placement);
    const asked = countAsking();
    const patience = {
      waitMs: 0,
      since: 0,
      onWaiting: new Listener('x', undefined),
      signal: undefined,
    };
    const first = await placement.find({}, patience);
    first.done();
    expect(asked()).toBe(1);
    (await placement.find({}, patience)).done();
    expect(asked()).toBe(1);
    first.avoid();
    (await placement.find({}, patience)).done();
    expect(asked()).toBeGreaterThan(1);
  });

  test('goes to no worker that drains, which is shown as such (Q14)', async () => {
    const worker = await startWorker(nats.url, ['--drain', '600']);
    const fleet = await connect();
    const tool = await fleet.createBashTool({ contract: 'plain' });
    worker.child.kill('SIGTERM');
    await eventually(async () => {
      const shown = [];
      for await (const { draining } of fleet.workers()) shown.push(draining);
      expect(shown).toEqual([true]);
    });
    await tool.dispose();
    await worker.ended;
  });

  test('is no reason to give up a line sooner, or later, than workers do at all (Q14)', async () => {
    const { id } = await startWorker(nats.url);
    const broker = await brokerAt(nats.url);
    keep({ dispose: () => broker.close() });
    const own = subjects.worker(id);
    const [client, line] = [newId(), newId()];
    const to = `${broker.inbox()}.${line}`;
    // The client is there, and says nothing of its own.
    broker.listen(to, ({ answer }) => answer?.(new Uint8Array()));
    await broker.flush();
    const place: PlaceRequest = { client, line, to, leaseMs: 1 };
    const placed = await broker.ask(own, toJson(place), 3000);
    expect(fromJson(placed as Uint8Array)).toEqual({ worker: id, line });
    for (let look = 0; look < 10; look += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      // Nothing: it is there.
      expect(await broker.ask(`${own}.${line}`, new Uint8Array(), 3000)).toHaveLength(0);
    }
  });
});
