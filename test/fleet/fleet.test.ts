import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  connectFleet,
  type FleetOptions,
  NoWorkerError,
  type WorkerInfo,
} from '../../src/fleet/index.js';
import { InputError } from '../../src/index.js';
import { BusyError } from '../../src/remote/index.js';
import { packageVersion } from '../../src/support/package/version.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder, useFolder } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';
import { textOf } from '../support/tool.js';

describe('a fleet', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const folder = useFolder();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());
  const connect = async (options: Partial<FleetOptions> = {}) =>
    keep(await connectFleet({ servers: nats.url, leaseMs: 4000, ...options }));

  async function workersOf(fleet: Awaited<ReturnType<typeof connect>>): Promise<WorkerInfo[]> {
    const found: WorkerInfo[] = [];
    for await (const worker of fleet.workers()) found.push(worker);
    return found;
  }

  test('without a worker nothing is started, and the error comes at once', async () => {
    const fleet = await connect();
    for (const call of [
      fleet.run('true'),
      fleet.spawn('true'),
      fleet.createBashTool({ contract: 'plain' }),
      fleet.run('true', { labels: { gpu: 'a100' } }),
    ]) {
      expect(await failureOf(call)).toBeInstanceOf(NoWorkerError);
    }
    expect(await workersOf(fleet)).toEqual([]);
  });

  test('commands, live ones and tools run on a worker, and results name it', async () => {
    const { id } = await startWorker(nats.url, ['--name', 'one', '--label', 'gpu=a100']);
    const fleet = await connect();
    const result = await fleet.run('echo hi; echo $FOO', { env: { FOO: 'bar' }, cwd: '/tmp' });
    expect(result).toMatchObject({ worker: id, outcome: { kind: 'exited', exitCode: 0 } });
    expect(printed(result)).toBe('hi\nbar\n');
    const live = await fleet.spawn('cat', { stdin: 'pipe' });
    expect(live.worker).toBe(id);
    await live.write('there and back\n');
    live.end();
    let text = '';
    for await (const chunk of live) text += chunk.text;
    expect(text).toBe('there and back\n');
    const bash = await fleet.createBashTool({ contract: 'session', cwd: '/tmp' });
    expect(bash.worker).toBe(id);
    await bash.execute({ command: 'cd /usr' });
    expect(bash.cwd).toBe('/usr');
    expect(await workersOf(fleet)).toEqual([
      {
        id,
        name: 'one',
        version: packageVersion(),
        labels: { gpu: 'a100' },
        running: 0,
        capacity: 64,
        clients: 1,
        sessions: 1,
        load: 0,
        draining: false,
      },
    ]);
    await bash.dispose();
  });

  test('a call goes to a worker that has its labels', async () => {
    await startWorker(nats.url, ['--label', 'zone=a']);
    const b = await startWorker(nats.url, ['--label', 'zone=b', '--label', 'gpu=a100']);
    const fleet = await connect();
    for (const labels of [{ zone: 'b' }, { zone: 'b', gpu: 'a100' }]) {
      expect((await fleet.run('true', { labels })).worker).toBe(b.id);
    }
    const error = await failureOf(fleet.run('true', { labels: { zone: 'c' } }));
    expect(error).toBeInstanceOf(NoWorkerError);
    expect((error as Error).message).toBe('There is no worker with zone=c; nothing was started.');
  });

  test('a busy worker is passed over, and when all are busy, nothing is started', async () => {
    const workers = [
      await startWorker(nats.url, ['--capacity', '1']),
      await startWorker(nats.url, ['--capacity', '1']),
    ];
    const fleet = await connect();
    const controller = new AbortController();
    const running = [1, 2].map(() => fleet.run(longSleep(191), { signal: controller.signal }));
    await eventually(() => expect(sleeping(191)).toHaveLength(2));
    expect(await failureOf(fleet.run('true', { waitMs: 0 }))).toBeInstanceOf(BusyError);
    controller.abort();
    const used = (await Promise.all(running)).map(({ worker }) => worker);
    expect(used.sort()).toEqual(workers.map(({ id }) => id).sort());
    expect((await fleet.run('true')).outcome.kind).toBe('exited');
  });

  test('a pool is apart from another', async () => {
    await startWorker(nats.url, ['--pool', 'eval']);
    expect(await failureOf((await connect()).run('true'))).toBeInstanceOf(NoWorkerError);
    expect((await (await connect({ pool: 'eval' })).run('true')).outcome.kind).toBe('exited');
  });

  test("the worker's own variables never reach a command", async () => {
    await startWorker(nats.url, [], {
      FORKLINE_NATS_TOKEN: 'not for commands',
      OTHER_SECRET_VALUE: 'seen',
    });
    const fleet = await connect();
    const env = printed(await fleet.run('env'));
    expect(env).not.toContain('not for commands');
    const all = await failureOf(fleet.run('env', { inheritEnv: 'all' }));
    expect(all).toBeInstanceOf(InputError);
    expect((all as Error).message).toMatch(
      /^inheritEnv: expected "scrubbed" or "none" on a worker/,
    );
    const making = fleet.createBashTool({ contract: 'plain', inheritEnv: 'all' });
    expect(await failureOf(making)).toBeInstanceOf(InputError);
    const bash = await fleet.createBashTool({ contract: 'plain' });
    const answer = textOf(await bash.execute({ command: 'env' }));
    expect(answer).not.toContain('not for commands');
    await bash.dispose();
  });

  test('profiles of a worker are used there', async () => {
    const module = folder.file('profiles.mjs');
    writeFileSync(module, `export const profiles = { usr: { cwd: '/usr' } };`);
    await startWorker(nats.url, ['--profiles', module]);
    const fleet = await connect();
    const bash = await fleet.createBashTool({ contract: 'plain', profile: 'usr' });
    expect(textOf(await bash.execute({ command: 'pwd' }))).toContain('/usr');
    await bash.dispose();
  });

  test('a worker that drains takes nothing new, tells its clients, and ends what runs by itself', async () => {
    const first = await startWorker(nats.url);
    const told: string[] = [];
    const fleet = await connect({ onDrain: (worker) => told.push(worker) });
    const file = folder.file('go');
    const running = fleet.run(`until [ -e ${file} ]; do sleep 0.05; done; echo done`);
    await eventually(async () => expect(await workersOf(fleet)).toMatchObject([{ running: 1 }]));
    const second = await startWorker(nats.url);
    first.child.kill('SIGTERM');
    await eventually(() => expect(told).toEqual([first.id]));
    await eventually(async () =>
      expect((await workersOf(fleet)).find(({ id }) => id === first.id)?.draining).toBe(true),
    );
    expect((await fleet.run('true')).worker).toBe(second.id);
    writeFileSync(file, '');
    const result = await running;
    expect(result.worker).toBe(first.id);
    expect(printed(result)).toBe('done\n');
    expect(await first.ended).toBe(143);
  });

  test('a worker that drains ends its tools when its time is up', async () => {
    const worker = await startWorker(nats.url, ['--drain', '1']);
    const fleet = await connect();
    const bash = await fleet.createBashTool({ contract: 'session', cwd: '/tmp' });
    await bash.execute({ command: longSleep(192), run_in_background: true });
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(143);
    expect(sleeping(192)).toEqual([]);
    expect(await failureOf(bash.execute({ command: 'true' }))).toBeInstanceOf(NoWorkerError);
  });

  test.each([
    [{ servers: 'nats://10.0.0.1:4222' }, /^servers: expected tls:\/\/ for another machine/],
    [{ servers: 'nats://a:b@127.0.0.1' }, /^servers: expected no credentials in an address/],
    [{ servers: [] }, /^servers: expected an address or several/],
    [{ servers: 'http://127.0.0.1' }, /^servers: expected nats:/],
    [{ servers: '127.0.0.1', pool: 'a.b' }, /^pool: expected letters, digits/],
    [
      { servers: '127.0.0.1', leaseMs: 5 },
      /^leaseMs: expected a whole number from 1000 to 120000, got 5/,
    ],
    [
      { servers: '127.0.0.1', creed: 'x' },
      /^creed: not known here, expected one of servers, creds, nkey, token/,
    ],
  ] as const)('options that are not valid are named: %o', async (options, message) => {
    const error = await failureOf(connectFleet(options as FleetOptions));
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toMatch(message);
  });

  test('a missing broker is an error', async () => {
    const error = await failureOf(connectFleet({ servers: 'nats://127.0.0.1:1' }));
    expect((error as Error).message).toMatch(
      /^The broker at nats:\/\/127\.0\.0\.1:1 can't be reached/,
    );
  });
});
