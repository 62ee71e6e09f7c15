import { describe, expect, test } from 'vitest';
import { connectFleet, NoWorkerError, type WorkerInfo } from '../../src/fleet/index.js';
import { packageVersion } from '../../src/support/package/version.js';
import { cli } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';

describe('forkline fleet', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());
  const show = (...args: string[]) => cli('fleet', '--nats', nats.url, ...args);

  test('shows the workers: a table, JSON, and what Prometheus reads', async () => {
    const one = await startWorker(nats.url, ['--name', 'one', '--label', 'gpu=a100']);
    const small = ['--name', 'two "b"', '--capacity', '1', '--label', 'size=small'];
    const two = await startWorker(nats.url, small);
    const fleet = keep(await connectFleet({ servers: nats.url }));
    const controller = new AbortController();
    const { signal } = controller;
    const busy = [{ gpu: 'a100' }, { size: 'small' }].map((labels) =>
      fleet.run(longSleep(234), { signal, labels }),
    );
    await eventually(() => expect(sleeping(234)).toHaveLength(2));
    const version = packageVersion();
    const { code, stdout } = await show();
    const table = String(stdout);
    expect(code).toBe(0);
    expect(
      table
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['ID', 'NAME', 'VERSION', 'RUNNING', 'SESSIONS', 'CLIENTS', 'STATE', 'LABELS'],
      [one.id.slice(0, 12), 'one', version, '1/64', '0', '1', 'serves', 'gpu=a100'],
      [two.id.slice(0, 12), 'two "b"', version, '1/1', '0', '1', 'full', 'size=small'],
    ]);
    const workers = JSON.parse(String((await show('--json')).stdout)) as WorkerInfo[];
    expect(workers.map(({ id, running, capacity }) => [id, running, capacity])).toEqual([
      [one.id, 1, 64],
      [two.id, 1, 1],
    ]);
    const lines = String((await show('--prometheus')).stdout).split('\n');
    expect(lines).toContain('forkline_workers 2');
    expect(lines).toContain('# TYPE forkline_worker_running gauge');
    expect(lines).toContain(
      `forkline_worker_capacity{id="${two.id}",name="two \\"b\\"",version="${version}"} 1`,
    );
    controller.abort();
    await Promise.all(busy);
  });

  test('drains a worker: it ends when what it has is over, and clients are told', async () => {
    const worker = await startWorker(nats.url);
    const told: string[] = [];
    const onDrain = (id: string) => void told.push(id);
    const fleet = keep(await connectFleet({ servers: nats.url, onDrain }));
    const running = fleet.run('sleep 1; echo done');
    await eventually(async () => {
      expect(JSON.parse(String((await show('--json')).stdout))).toMatchObject([{ running: 1 }]);
    });
    const drained = await cli('fleet', 'drain', worker.id.slice(0, 10), '--nats', nats.url);
    expect(drained).toMatchObject({
      code: 0,
      stderr: `forkline: worker ${worker.id} drains\n`,
    });
    expect((await running).outcome).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(await worker.ended).toBe(0);
    expect(told).toEqual([worker.id]);
  });

  test('names a worker that is not there, and a broker', async () => {
    const { code, stdout } = await show();
    expect({ code, lines: String(stdout).split('\n').length }).toEqual({ code: 0, lines: 2 });
    expect(await cli('fleet', 'drain', 'ab', '--nats', nats.url)).toMatchObject({
      code: 1,
      stderr: 'forkline: no worker has the id ab\n',
    });
    expect(await cli('fleet', '--nats', 'nats://127.0.0.1:1')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/can't be reached: connection refused\n$/),
    });
    const fleet = keep(await connectFleet({ servers: nats.url }));
    expect(await failureOf(fleet.drain('0'.repeat(32)))).toBeInstanceOf(NoWorkerError);
    expect(await failureOf(fleet.drain('x y'))).toMatchObject({
      name: 'InputError',
      message: 'worker: expected the id of a worker, got "x y"',
    });
  });
});
