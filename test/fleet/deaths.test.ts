import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  connectFleet,
  type FleetOptions,
  NoWorkerError,
  WorkerLostError,
} from '../../src/fleet/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { startNats, startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { exited, failureOf, printed } from '../support/results.js';
import { textOf } from '../support/tool.js';

const LEASE_MS = 4000;

describe('deaths in a fleet', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const folder = makeFolder();
  const nats = await useNats(folder);
  const connect = async (options: Partial<FleetOptions> = {}) =>
    keep(await connectFleet({ servers: nats.url, leaseMs: LEASE_MS, ...options }));

  test('a killed worker is reported as lost, and none of its commands is run again', async () => {
    const worker = await startWorker(nats.url);
    const fleet = await connect();
    const running = failureOf(fleet.run(`echo early; ${longSleep(193)}`, { onOutput: () => {} }));
    const bash = await fleet.createBashTool({ contract: 'session', cwd: '/tmp' });
    const call = failureOf(bash.execute({ command: longSleep(193) }));
    await eventually(() => expect(sleeping(193)).toHaveLength(2));
    const other = await startWorker(nats.url);
    worker.child.kill('SIGKILL');
    expect(await running).toMatchObject({
      name: 'WorkerLostError',
      started: true,
      output: 'early\n',
    });
    expect(await call).toMatchObject({ name: 'WorkerLostError', started: 'unknown' });
    await eventually(() => expect(sleeping(193)).toEqual([]));
    // A tool's state was there; the next command goes where there is somebody.
    expect(await failureOf(bash.execute({ command: 'true' }))).toBeInstanceOf(NoWorkerError);
    expect((await fleet.run('true')).worker).toBe(other.id);
  });

  test('a worker that has stopped is lost after the lease, and ends what it ran by its own', async () => {
    const worker = await startWorker(nats.url);
    const fleet = await connect();
    const running = failureOf(fleet.run(longSleep(194)));
    await eventually(() => expect(sleeping(194)).toHaveLength(1));
    worker.child.kill('SIGSTOP');
    expect(await running).toBeInstanceOf(WorkerLostError);
    expect(sleeping(194)).toHaveLength(1);
    worker.child.kill('SIGCONT');
    await eventually(() => expect(sleeping(194)).toEqual([]));
    // It is as good as new.
    expect((await fleet.run('true')).worker).toBe(worker.id);
  });

  test('a client that is killed leaves nothing running, and its tools are disposed of', async () => {
    await startWorker(nats.url);
    const host = startHost('fleet', { args: [nats.url, String(LEASE_MS), longSleep(195)] });
    await host.next();
    await eventually(() => expect(sleeping(195).length).toBeGreaterThanOrEqual(2));
    host.child.kill('SIGKILL');
    await host.ended;
    await eventually(() => expect(sleeping(195)).toEqual([]), 20_000);
    const fleet = await connect();
    await eventually(async () => {
      for await (const { sessions, running } of fleet.workers()) {
        expect({ sessions, running }).toEqual({ sessions: 0, running: 0 });
      }
    });
  });

  test('a client that leaves takes along what it has started', async () => {
    await startWorker(nats.url);
    const fleet = await connectFleet({ servers: nats.url, leaseMs: LEASE_MS });
    const running = fleet.run(longSleep(196));
    await eventually(() => expect(sleeping(196)).toHaveLength(1));
    await fleet.dispose();
    expect((await running).outcome).toMatchObject({ kind: 'cancelled', by: 'owner' });
    expect(sleeping(196)).toEqual([]);
    expect(await failureOf(fleet.run('true'))).toBeInstanceOf(NoWorkerError);
  });

  test('a broker that is restarted in the middle of 40 MB loses and repeats not a byte', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const count = 5_400_000;
    const live = await fleet.spawn(`seq 1 ${count}`, { overflow: 'pause', encoding: 'bytes' });
    let line = '';
    let next = 1;
    let bytes = 0;
    let restarts = 0;
    let restarting: Promise<void> | undefined;
    for await (const chunk of live) {
      expect(chunk.droppedBytes).toBe(0);
      bytes += chunk.bytes.length;
      if (bytes > (restarts + 1) * 10_000_000 && restarts < 3) {
        restarts += 1;
        await restarting;
        restarting = nats.restart(restarts * 100);
      }
      const lines = (line + Buffer.from(chunk.bytes).toString()).split('\n');
      line = lines.pop() ?? '';
      for (const one of lines) {
        if (Number(one) !== next) throw new Error(`expected ${next}, got ${one}`);
        next += 1;
      }
    }
    await restarting;
    expect(restarts).toBe(3);
    expect(next).toBe(count + 1);
    expect((await live.result).outcome).toEqual(exited(0));
  });

  test('calls under way while the broker is restarted end, and end once', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const bash = await fleet.createBashTool({ contract: 'session', cwd: '/tmp' });
    const file = join(folder, 'ran');
    const running = fleet.run(`echo once >>${file}; sleep 1.5; cat ${file}`);
    const call = bash.execute({ command: 'cd /usr; sleep 1.5; pwd' });
    await eventually(async () => expect(printed(await fleet.run(`cat ${file}`))).toBe('once\n'));
    await nats.restart(200);
    expect(printed(await running)).toBe('once\n');
    expect(textOf(await call)).toContain('/usr');
    expect(bash.cwd).toBe('/usr');
    // What is asked while the broker is away waits for it.
    const away = nats.restart(800);
    expect(printed(await fleet.run('echo back'))).toBe('back\n');
    await away;
  });

  test('a cancel reaches a command across a restart of the broker', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const controller = new AbortController();
    const running = fleet.run(longSleep(197), { signal: controller.signal });
    await eventually(() => expect(sleeping(197)).toHaveLength(1));
    const restarting = nats.restart(500);
    controller.abort();
    expect((await running).outcome).toMatchObject({ kind: 'cancelled', by: 'signal' });
    expect(sleeping(197)).toEqual([]);
    await restarting;
  });

  test('a broker that stays away: the client is told, and the worker ends what ran', async () => {
    const own = await startNats(folder);
    await startWorker(own.url);
    const fleet = keep(await connectFleet({ servers: own.url, leaseMs: 2000 }));
    const running = failureOf(fleet.run(longSleep(198)));
    await eventually(() => expect(sleeping(198)).toHaveLength(1));
    await own.stop();
    expect(await running).toBeInstanceOf(WorkerLostError);
    await eventually(() => expect(sleeping(198)).toEqual([]));
    const error = await failureOf(fleet.run('true'));
    expect(error).toBeInstanceOf(NoWorkerError);
    expect((error as Error).message).toMatch(/broker can't be reached/);
    // Nobody knows whether there are any: an empty answer would say that there are none.
    expect(await failureOf(fleet.workers().next())).toBeInstanceOf(NoWorkerError);
  });

  test("a command and a result over the broker's payload limit go in parts", async () => {
    const small = await startNats(folder, 'max_payload: 65536');
    await startWorker(small.url);
    const fleet = await connectFleet({ servers: small.url, leaseMs: LEASE_MS });
    const text = 'x'.repeat(1_000_000);
    const result = await fleet.run(`cat <<'END'\n${text}\nEND`, { headBytes: 2_000_000 });
    expect(printed(result)).toBe(`${text}\n`);
    await fleet.dispose();
    await small.stop();
  });
});
