// H1: whose request it is, for those who ask by AsyncLocalStorage.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import {
  type BashTool,
  createBashTool,
  run,
  spawn,
  TaskManager,
  type ToolCall,
} from '../../src/index.js';
import { useAcpClients } from '../support/acp.js';
import { FakeUi } from '../support/console.js';
import { useDisposal } from '../support/disposal.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();
const acpClient = useAcpClients();
const request = new AsyncLocalStorage<string>();

/** Who was in whose context: `alice` and `bob`, each in a request of their own, at once. */
const seen = new Map<string, Set<string | undefined>>();
afterEach(() => seen.clear());

const note = (who: string): void => {
  seen.set(who, (seen.get(who) ?? new Set()).add(request.getStore()));
};

async function asBoth(serve: (who: string) => Promise<unknown>): Promise<void> {
  await Promise.all(['alice', 'bob'].map((who) => request.run(who, () => serve(who))));
  expect(Object.fromEntries([...seen].map(([who, stores]) => [who, [...stores]]))).toEqual({
    alice: ['alice'],
    bob: ['bob'],
  });
}

const call = (who: string): ToolCall<unknown> => ({
  onUpdate: () => note(who),
  onOutput: () => note(who),
});

const SLOW = 'for i in 1 2 3; do echo $i; sleep 0.06; done';

test('H1: onOutput of run() is called in the context of its call', async () => {
  await asBoth((who) => run(SLOW, { onOutput: () => note(who) }));
});

test('H1: a reader of the output of spawn() stays in its own context', async () => {
  await asBoth(async (who) => {
    const live = await spawn(SLOW);
    note(who);
    for await (const _ of live) note(who);
    await live.result.then(() => note(who));
  });
});

test.each([
  createBashTool({ contract: 'workspace', cwd: '/' }),
  createBashTool({ contract: 'workspace', cwd: '/', autoBackground: true }),
  createBashTool({ contract: 'modes', cwd: '/' }),
  createBashTool({ contract: 'session', cwd: '/' }),
  createBashTool({ contract: 'plain' }),
] as readonly BashTool[])(
  'H1: listeners of a tool are called in the context of the call',
  async (tool) => {
    keep(tool);
    await asBoth((who) => tool.execute({ command: SLOW }, call(who)));
  },
);

test('H1: a call that waits for its turn keeps its context', async () => {
  const tool: BashTool = keep(createBashTool({ contract: 'workspace', cwd: '/' }));
  const before = request.run('before', () => tool.execute({ command: 'sleep 0.2' }));
  await asBoth((who) => tool.execute({ command: SLOW }, call(who)));
  await before;
});

test('H1: background jobs report their end in the context of their call', async () => {
  const ended: unknown[] = [];
  const tasks = new TaskManager({ onEnd: () => ended.push(request.getStore()) });
  const tool = keep(createBashTool({ contract: 'workspace', cwd: '/', async: true, tasks }));
  const whenEnded = async (who: string): Promise<void> => {
    await tool.execute(
      { command: SLOW, async: true },
      {
        onUpdate({ details }) {
          note(who);
          if (details.async?.state !== 'running') ended.push(`${who} was told`);
        },
      },
    );
    await eventually(() => expect(ended).toContain(`${who} was told`));
  };
  await asBoth(whenEnded);
  await eventually(() => {
    expect(ended.toSorted()).toEqual(['alice', 'alice was told', 'bob', 'bob was told']);
  });
});

test('H1: the screen of a console is reported in the context of the call, even after a resize from elsewhere', async () => {
  await asBoth(async (who) => {
    const ui = new FakeUi();
    const tool = keep(createBashTool({ contract: 'workspace', cwd: folder.path, ui }));
    const answer = tool.execute({ command: 'echo ready; read x', pty: true }, call(who));
    await ui.shows('ready');
    await sleep(100);
    await request.run('somebody else', async () => {
      ui.events.resize({ columns: 90, rows: 30 });
      await sleep(100);
      ui.events.input('\r');
    });
    await answer;
  });
});

test("H1: the output of a client's terminal is reported in the context of the call", async () => {
  await asBoth(async (who) => {
    const { connection } = acpClient();
    const clientTerminal = { connection, sessionId: who, pollMs: 20 };
    const tool = keep(createBashTool({ contract: 'workspace', cwd: '/', clientTerminal }));
    await tool.execute({ command: SLOW }, call(who));
  });
});

test('H1: the context of a request is released after the request, also that of the first', async () => {
  const report = await runHost<{ served: number; remembered: string[] }>('contexts');
  expect(report).toEqual({ served: 7, remembered: [] });
});
