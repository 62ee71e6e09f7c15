import { describe, expect, test } from 'vitest';
import { connectFleet } from '../../src/fleet/index.js';
import type { Broker } from '../../src/fleet/line/broker.js';
import { toJson } from '../../src/fleet/messages.js';
import { newId, subjectsOf } from '../../src/fleet/subjects.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { brokerAt, startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { failureOf, printed } from '../support/results.js';

describe('a fleet with a peer that says odd things', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());
  const subjects = subjectsOf('default');
  async function connectToBroker(): Promise<Broker> {
    const broker = await brokerAt(nats.url);
    keep({ dispose: () => broker.close() });
    return broker;
  }

  test('R3: a worker serves on after a search that is not valid', async () => {
    const broker = await connectToBroker();
    const worker = await startWorker(nats.url);
    const right = { client: newId(), line: newId(), to: broker.inbox(), leaseMs: 4000 };
    const odd = [
      null,
      7,
      [],
      { ...right, to: 'a b' },
      { ...right, to: 'a.>' },
      { ...right, to: '' },
    ];
    for (const place of [...odd, { ...right, line: 'x y' }, { ...right, client: {} }]) {
      expect(await broker.ask(subjects.place('room', 'any'), toJson(place), 200)).toBe('silence');
    }
    const fleet = keep(await connectFleet({ servers: nats.url }));
    const result = await fleet.run('echo here');
    expect(printed(result)).toBe('here\n');
    expect(result.worker).toBe(worker.id);
  });

  test.each([
    ['null', null],
    ['a number', 7],
    ['a name with a blank', { worker: 'a b', line: newId() }],
    ['a line that is no id', { worker: newId(), line: 'x y' }],
    ['a line that was not asked for', { worker: newId(), line: newId() }],
  ])('R4: a worker that answers with %s is passed over', async (_, placed) => {
    const broker = await connectToBroker();
    const pool = subjectsOf('odd');
    const off = [
      broker.listen('forkline.odd.place.>', ({ answer }) => answer?.(toJson(placed))),
      broker.listen(pool.who, ({ answer }) => answer?.(toJson({ id: 'a b', name: 7 }))),
    ];
    await broker.flush();
    const fleet = keep(await connectFleet({ servers: nats.url, pool: 'odd' }));
    expect(await failureOf(fleet.run('true'))).toMatchObject({ name: 'NoWorkerError' });
    for (const stop of off) stop();
  });
});
