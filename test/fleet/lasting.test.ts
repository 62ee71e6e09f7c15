import { describe, expect, test } from 'vitest';
import {
  connectFleet,
  type Fleet,
  NoWorkerError,
  serveNats,
  WorkerLostError,
} from '../../src/fleet/index.js';
import { LastingTools } from '../../src/fleet/lasting-tool.js';
import { type BashTool, createBashTool, type TaskEvent } from '../../src/index.js';
import { FarFiles } from '../../src/remote/near/files/files.js';
import { FarPorts } from '../../src/remote/near/ports/ports.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';
import { textOf } from '../support/tool.js';

const LOST = /^The worker of this session was lost, .* a new session\.\n\n/;
const ENDS = /^The worker of this session is about to end, .* a new session\.\n\n/;

/** One here, which is taken for a tool on that worker. */
const toolOn = (worker: string) =>
  Object.assign(createBashTool({ contract: 'plain', env: { WORKER: worker } }), {
    worker,
    files: new FarFiles(() => Promise.reject(new Error(`no files at ${worker}`))),
    ports: new FarPorts(() => {
      throw new Error(`no ports at ${worker}`);
    }),
  });

test('a call is not refused because an earlier attempt found no worker', async () => {
  const tools = new LastingTools();
  const opened: ((tool: ReturnType<typeof toolOn> | Error) => void)[] = [];
  const open = () =>
    new Promise<ReturnType<typeof toolOn>>((resolve, reject) => {
      opened.push((tool) => (tool instanceof Error ? reject(tool) : resolve(tool)));
    });
  const made = tools.make(open);
  opened.shift()?.(toolOn('one'));
  const bash = await made;
  tools.drained('one');
  await eventually(() => expect(opened).toHaveLength(1));
  const answer = bash.execute({ command: 'echo $WORKER' });
  opened.shift()?.(new NoWorkerError('There is no worker; nothing was started.'));
  await eventually(() => expect(opened).toHaveLength(1));
  opened.shift()?.(toolOn('other'));
  const text = textOf(await answer);
  expect(text).toMatch(ENDS);
  expect(text).toContain('other');
  await bash.dispose();
});

async function drainingOf(fleet: Fleet): Promise<readonly boolean[]> {
  const all: boolean[] = [];
  for await (const { draining } of fleet.workers()) all.push(draining);
  return all.sort();
}

describe('a tool that outlasts its worker', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());
  const connect = async () => keep(await connectFleet({ servers: nats.url, leaseMs: 4000 }));
  const asked = async (bash: BashTool, command: string) => textOf(await bash.execute({ command }));

  test('one call is lost with a killed worker, and all later ones share one new session', async () => {
    const worker = await startWorker(nats.url);
    const fleet = await connect();
    const bash = await fleet.createLastingTool({ contract: 'session', cwd: '/tmp' });
    const events: TaskEvent[] = [];
    bash.tasks?.subscribe((event) => events.push(event));
    await asked(bash, 'cd /usr');
    await bash.execute({ command: longSleep(161), run_in_background: true });
    const running = failureOf(bash.execute({ command: longSleep(162) }));
    await eventually(() => expect([...sleeping(161), ...sleeping(162)]).toHaveLength(2));
    const [task] = bash.tasks?.list() ?? [];
    await startWorker(nats.url);
    worker.child.kill('SIGKILL');
    expect(await running).toBeInstanceOf(WorkerLostError);
    await eventually(() => expect([...sleeping(161), ...sleeping(162)]).toEqual([]));
    expect(events.flatMap(({ news }) => news)).toContainEqual({
      kind: 'lost',
      reason: expect.any(String),
    });
    const both = await Promise.all([asked(bash, 'pwd'), asked(bash, 'pwd')]);
    const [told, ...others] = both.sort((one, other) => other.length - one.length);
    expect(told).toMatch(LOST);
    expect(told?.replace(LOST, '').trim()).toBe('/tmp');
    expect(others.map((text) => text.trim())).toEqual(['/tmp']);
    // It is the tasks of where it is now that can be asked for, and that tell of themselves.
    const [output] = bash.companions.filter(({ name }) => name === 'task_output');
    expect(await output?.answer({ task_id: task?.id })).toMatchObject({ isError: true });
    expect(bash.tasks?.list()).toEqual([]);
    events.length = 0;
    await bash.execute({ command: 'true', run_in_background: true });
    await eventually(() =>
      expect(events.flatMap(({ news }) => news.map(({ kind }) => kind))).toContain('ended'),
    );
    await bash.dispose();
    expect(await failureOf(bash.execute({ command: 'true' }))).toMatchObject({ kind: 'disposed' });
  });

  test('a worker that says that it serves is found at once', async () => {
    const fleet = await connect();
    for (let round = 0; round < 20; round += 1) {
      const worker = await serveNats({ servers: nats.url });
      expect(await fleet.run('exit 7')).toMatchObject({ worker: worker.id });
      await worker.close();
    }
  });

  test('a tool is made at another worker where the one that was asked is lost meanwhile', async () => {
    const fleet = await connect();
    const gone = await startWorker(nats.url);
    await fleet.run('true');
    const { id } = await startWorker(nats.url);
    gone.child.kill('SIGKILL');
    const bash = await fleet.createBashTool({ contract: 'session' });
    expect(bash.worker).toBe(id);
    expect((await asked(bash, 'echo on')).trim()).toBe('on');
    await bash.dispose();
  });

  test('without a worker each call says so, and calls go on once there is one', async () => {
    const worker = await startWorker(nats.url);
    const fleet = await connect();
    const bash = await fleet.createLastingTool({ contract: 'workspace', cwd: '/' });
    worker.child.kill('SIGKILL');
    await worker.ended;
    expect(await failureOf(bash.execute({ command: 'true' }))).toBeInstanceOf(WorkerLostError);
    for (let call = 0; call < 2; call += 1) {
      expect(await failureOf(bash.execute({ command: 'true' }))).toBeInstanceOf(NoWorkerError);
    }
    await startWorker(nats.url);
    // An error can be the first answer, too.
    const failed = await failureOf(bash.execute({ command: 5 }));
    expect(failed).toMatchObject({ name: 'ToolError', message: expect.stringMatching(LOST) });
    expect(await asked(bash, 'echo on')).toMatch(/^on\n/);
  });

  test('a worker that drains is left once nothing runs there, and ends before its time is up', async () => {
    const worker = await startWorker(nats.url, ['--drain', '600']);
    const fleet = await connect();
    const bash = await fleet.createLastingTool({ contract: 'session', cwd: '/tmp' });
    await asked(bash, 'cd /usr');
    await bash.execute({ command: longSleep(163), run_in_background: true });
    await startWorker(nats.url);
    worker.child.kill('SIGTERM');
    await eventually(async () => expect(await drainingOf(fleet)).toEqual([false, true]));
    expect((await asked(bash, 'pwd')).trim()).toBe('/usr');
    expect(sleeping(163)).toHaveLength(1);
    for (const pid of sleeping(163)) process.kill(pid);
    await eventually(async () => expect(await asked(bash, 'pwd')).toMatch(ENDS));
    expect(await worker.ended).toBe(143);
    expect((await asked(bash, 'pwd')).trim()).toBe('/tmp');
  });

  test('a worker that drains keeps a tool for as long as no other worker is there', async () => {
    const worker = await startWorker(nats.url, ['--drain', '600']);
    const fleet = await connect();
    const bash = await fleet.createLastingTool({ contract: 'session', cwd: '/tmp' });
    await asked(bash, 'cd /usr');
    worker.child.kill('SIGTERM');
    await eventually(async () => expect(await drainingOf(fleet)).toEqual([true]));
    expect((await asked(bash, 'pwd')).trim()).toBe('/usr');
    await startWorker(nats.url);
    const text = await asked(bash, 'pwd');
    expect(text).toMatch(ENDS);
    expect(text.replace(ENDS, '').trim()).toBe('/tmp');
    expect(await worker.ended).toBe(143);
  });
});
