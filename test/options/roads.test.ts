import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { LocalMachine } from '../../src/adapters/local-machine/machine.js';
import { connectFleet, type Fleet, serveNats, type WorkerService } from '../../src/fleet/index.js';
import {
  detach,
  type LiveProcess,
  type ModesTool,
  run,
  runInConsole,
  type SessionTool,
  spawn,
  type TaskEnd,
  TaskManager,
  type TaskManagerOptions,
} from '../../src/index.js';
import { type Connection, connect } from '../../src/remote/index.js';
import { FakeUi } from '../support/console.js';
import { useTasks } from '../support/detached-tasks.js';
import { FAR_BUILT, STATIC_FAR } from '../support/far.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';
import { startNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { textOf } from '../support/tool.js';
import { conforms } from './conformance.js';
import {
  commandLineWay,
  loose,
  runWay,
  textIn,
  timed,
  toolWay,
  type Way,
  withTool,
} from './ways.js';

leavesNothingBehind(40);
const tasks = useTasks();
const folder = useFolders();
let onEnd: TaskManagerOptions['onEnd'];

conforms('run', runWay(run));

conforms('spawn', (command, options, endAfterMs) =>
  timed(async () => {
    const given = { ...(endAfterMs && { timeoutMs: endAfterMs }), ...options };
    const live = (await loose(spawn)(command, given)) as LiveProcess;
    const result = await live.result;
    return { text: textIn(result), result };
  }),
);

conforms('task', (command, options, endAfterMs) =>
  timed(async () => {
    const given = { ...(endAfterMs && { timeoutMs: endAfterMs }), ...options };
    const task = await new TaskManager().start(command, given);
    const { text } = await task.ended;
    return { text, receipt: task.receipt };
  }),
);

const detachedWay: Way = (command, options, endAfterMs) =>
  timed(async () => {
    const given = { ...(endAfterMs && { timeoutMs: endAfterMs }), ...options };
    const task = await detach(command, given);
    tasks.note(task.id);
    await task.wait({ ended: true });
    return { text: readFileSync(task.outputFile ?? '', 'utf8') };
  });
conforms('detach', detachedWay);

conforms('console', (command, options, endAfterMs) =>
  timed(async () => {
    const given = { ui: new FakeUi(), ...(endAfterMs && { timeoutMs: endAfterMs }), ...options };
    const { text, result } = (await loose(runInConsole)(command, given)) as Awaited<
      ReturnType<typeof runInConsole>
    >;
    return { text, result };
  }),
);

describe.each(['workspace', 'modes', 'session', 'plain'])('a tool of %s', (contract) => {
  conforms('tool', toolWay({ contract }));
});

conforms('persistent', toolWay({ contract: 'session', persistent: true }));

conforms('detachedTask', (command, options, endAfterMs) =>
  withTool(
    { contract: 'session', taskLifetime: 'detached', ...options },
    async (tool: SessionTool) => {
      const { structured } = await tool.execute({ command, run_in_background: true });
      const task_id = tasks.note(String(structured?.task_id));
      if (endAfterMs !== undefined) {
        await sleep(endAfterMs);
        await tool.killTask.execute({ task_id });
      }
      return { text: textOf(await tool.taskOutput.execute({ task_id, seconds: 10 })) };
    },
  ),
);

conforms('modesBackground', (command, options, endAfterMs) => {
  const ended = new Promise<TaskEnd>((resolve) => {
    onEnd = (_, end) => resolve(end);
  });
  const timeouts = endAfterMs && { background: endAfterMs / 1000 };
  const made = { contract: 'modes', tasks: { onEnd }, timeouts, ...options };
  return withTool(made, async (tool: ModesTool) => {
    await tool.execute({ command, mode: 'background' });
    return { text: (await ended).text };
  });
});

conforms('commandLine', commandLineWay);

conforms('localMachine', async (command, options, endAfterMs) => {
  const { cwd: root = folder(), ...rest } = options;
  const machine = await loose(LocalMachine.open)({ root, ...rest });
  try {
    const { run } = machine as LocalMachine;
    return await runWay(run.bind(machine as LocalMachine), { timeoutMs: endAfterMs })(command, {});
  } finally {
    await (machine as LocalMachine)[Symbol.asyncDispose]();
  }
});

describe('far sides', () => {
  let far: Connection;
  beforeAll(async () => {
    far = await connect({ command: [process.execPath, 'dist/cli.js', 'serve', '--stdio'] });
  });
  afterAll(() => far.dispose());
  conforms('remote', (...call) => runWay(far.run.bind(far))(...call));
});

describe('far sides without Node', where(FAR_BUILT), () => {
  let far: Connection;
  beforeAll(async () => {
    far = await connect({ command: [STATIC_FAR, 'serve', '--stdio'] });
  });
  afterAll(() => far.dispose());
  conforms('staticFar', (...call) => runWay(far.run.bind(far))(...call));
});

describe('workers', where(installed('nats-server')), () => {
  let [fleet, worker, stop]: [Fleet?, WorkerService?, (() => Promise<void>)?] = [];
  beforeAll(async () => {
    const nats = await startNats(folder());
    stop = nats.stop;
    worker = await serveNats({ servers: nats.url });
    fleet = await connectFleet({ servers: nats.url });
  });
  afterAll(async () => {
    await fleet?.dispose();
    await worker?.close();
    await stop?.();
  });
  conforms('fleet', (...call) => runWay(fleet?.run.bind(fleet))(...call));
});
