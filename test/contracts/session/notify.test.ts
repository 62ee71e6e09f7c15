import { expect, test } from 'vitest';
import {
  createBashTool,
  type SessionOptions,
  type TaskEvent,
  type ToldNews,
} from '../../../src/index.js';
import { longSleep } from '../../support/commands.js';
import { useTasks } from '../../support/detached-tasks.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { data, startTask } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const tasks = useTasks();
const keep = useDisposal();

/** Only the native engine starts commands that outlive their host. */
const DETACHED = process.env.FORKLINE_ENGINE === 'portable' ? [] : (['detached'] as const);

const SERVER = `exec node -e "require('net').createServer().listen(0, '127.0.0.1')"`;

/** A session whose model may say what it is told, and what its host was told for it. */
function newSession({ tasks: more, ...options }: Partial<SessionOptions> = {}) {
  const told: ToldNews[] = [];
  const onEvent = ({ news }: TaskEvent) => {
    told.push(...news.filter(({ watch, unmet }) => (watch ?? unmet) !== undefined));
  };
  const tool = keep(
    createBashTool({
      contract: 'session',
      cwd: tasks.folder.path,
      graceMs: 500,
      notify: true,
      tasks: { onEvent, ...more },
      ...options,
    }),
  );
  const start = async (command: string, notify: object) => {
    const { task_id } = await data(tool, command, { run_in_background: true, notify });
    return String(task_id);
  };
  return { tool, told, start };
}

test('a model is offered `notify` only where its host says that it passes events on', () => {
  const offers = (options: object) =>
    'notify' in
    keep(createBashTool({ contract: 'session', cwd: '/', ...options })).inputSchema.properties;
  expect([offers({}), offers({ notify: false }), offers({ notify: true })]).toEqual([
    false,
    false,
    true,
  ]);
});

test.each<[string, string, object, object]>([
  ['line', 'echo a; echo ready; exec sleep 30', { line: 'ready' }, { kind: 'line', line: 'ready' }],
  ['port', SERVER, { port: 0 }, { kind: 'listening' }],
  ['silent', longSleep(7320), { silent: 1 }, { kind: 'silent' }],
  ['ended', 'exit 4', { ended: true }, { kind: 'ended' }],
])('%s, as the model has asked for it', async (watch, command, notify, news) => {
  for (const lifetime of ['tool', 'host', ...DETACHED] as const) {
    const { tool, told, start } = newSession({ taskLifetime: lifetime });
    // Any port, of which the model knows the number; here it is not known before.
    const port = watch === 'port' ? { port: await freePort() } : undefined;
    const text = port ? command.replace('listen(0', `listen(${port.port}`) : command;
    const id = await start(text, port ?? notify);
    if (lifetime === 'detached') tasks.note(id);
    await eventually(() => expect(told).toHaveLength(1));
    expect(told).toMatchObject([{ ...news, watch }]);
    await tool.killTask.execute({ task_id: id });
  }
});

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('what the answer of a tool has told is not told again by an event', async () => {
  const { tool, told, start } = newSession();
  const id = await start('echo up; sleep .3; echo ready; read -r x', {
    line: 'ready',
    ended: true,
  });
  const said = textOf(await tool.taskOutput.execute({ task_id: id, line: 'ready' }));
  expect(said).toContain('It has printed: ready');
  await tool.killTask.execute({ task_id: id });
  const short = await start('exit 3', { line: 'x', ended: true });
  expect(textOf(await tool.taskOutput.execute({ task_id: short, seconds: 20 }))).toContain('3');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(told).toEqual([]);
});

test('a call that waits for something else does not keep an event back', async () => {
  const { tool, told, start } = newSession();
  const id = await start('sleep .2; echo ready; exec sleep 30', { line: 'ready' });
  const waiting = tool.taskOutput.execute({ task_id: id, line: 'never', seconds: 30 });
  await eventually(() => expect(told).toMatchObject([{ line: 'ready', watch: 'line' }]));
  await tool.killTask.execute({ task_id: id });
  await waiting;
});

test('a tool of the same name goes on with the detached commands of one before', async () => {
  const options = { taskLifetime: 'detached', tasks: { name: 'session of tests' } } as const;
  const first = newSession(options);
  const command = `until test -e '${tasks.folder.file('go')}'; do sleep .05; done; echo ready; exit 7`;
  const id = tasks.note(await first.start(command, { line: 'ready', ended: true }));
  await first.tool.dispose();
  const second = newSession(options);
  await second.tool.execute({ command: `touch '${tasks.folder.file('go')}'` });
  await eventually(() => expect(second.told.map(({ watch }) => watch)).toEqual(['line', 'ended']));
  expect(first.told).toEqual([]);
  expect(id).not.toBe('');
});

test.each<[object, RegExp]>([
  [{ run_in_background: true, notify: {} }, /^notify: expected at least one of/],
  [{ run_in_background: true, notify: { line: '' } }, /^notify\.line: expected a text/],
  [{ run_in_background: true, notify: { silent: 0 } }, /silent/],
  [{ run_in_background: true, notify: { port: 70_000 } }, /^notify\.port: expected a whole number/],
  [{ run_in_background: true, notify: { lines: 'x' } }, /lines/],
  [{ notify: { ended: true } }, /^notify: expected to come with `run_in_background: true`$/],
])('%j is refused, and nothing is started', async (fields, message) => {
  const { tool } = newSession();
  await expect(tool.execute({ command: 'true', ...fields })).rejects.toThrow(message);
  expect(tool.tasks?.list()).toEqual([]);
});

test('fields that a strict mode sends as null count as left out', async () => {
  const { told, start } = newSession();
  await start('true', { line: null, port: null, silent: null, ended: true });
  await eventually(() => expect(told).toMatchObject([{ watch: 'ended' }]));
});

test('where nobody listens, the model is told to wait instead', async () => {
  const tool = keep(createBashTool({ contract: 'session', cwd: '/', notify: true }));
  const asked = { command: 'true', run_in_background: true, notify: { ended: true } };
  await expect(tool.execute(asked)).rejects.toThrow(
    'notify: the host of this tool listens to no events; wait for them instead',
  );
});

test('without the option, it is a field that is not known', async () => {
  const { tool } = newSession({ notify: false });
  const asked = { command: 'true', run_in_background: true, notify: { ended: true } };
  await expect(tool.execute(asked as never)).rejects.toThrow(/notify: not known here/);
  expect(await startTask(tool, 'true')).toMatch(/^task_|^bg_/);
});
