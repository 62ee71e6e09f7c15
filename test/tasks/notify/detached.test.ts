import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  type DetachedNotify,
  type DetachOptions,
  detach,
  type TaskEvent,
  TaskManager,
  type ToldNews,
} from '../../../src/index.js';
import { longSleep, quote } from '../../support/commands.js';
import { untilState, useTasks } from '../../support/detached-tasks.js';
import { type Host, startHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { eventually, parentOf } from '../../support/processes.js';

leavesNothingBehind();
const tasks = useTasks();

interface Told {
  readonly id: string;
  readonly news: ToldNews;
}

/** A runtime of this process. */
function newRuntime(name: string) {
  const told: Told[] = [];
  const manager = new TaskManager({
    name,
    onEvent: ({ task, news }: TaskEvent) => {
      for (const one of news) told.push({ id: task.id, news: one });
    },
  });
  return { manager, told, of: (id: string) => told.filter((one) => one.id === id) };
}

/** A runtime in a process of its own: what it says, in order. */
async function hostOf(name: string): Promise<{
  readonly host: Host;
  readonly said: Record<string, unknown>[];
  readonly told: (id: string) => object[];
}> {
  const host = startHost('notify', { args: [name], env: { TMPDIR: tasks.folder.path } });
  const said: Record<string, unknown>[] = [await host.next()];
  void (async () => {
    for (;;) said.push(await host.next());
  })().catch(() => {});
  const told = (id: string) => {
    const all = said.flatMap((one) => (one.told === undefined ? [] : [one.told as { id: string }]));
    return all.filter((one) => one.id === id);
  };
  return { host, said, told };
}

async function endHost({ host }: { readonly host: Host }, how: NodeJS.Signals): Promise<void> {
  host.child.kill(how);
  await host.ended;
}

async function begin(command: string, notify: DetachedNotify, more: DetachOptions = {}) {
  const task = await detach(command, { graceMs: 0, ...more, notify });
  tasks.note(task.id);
  return task;
}

/** A command that goes on when a file exists. */
const until = (name: string) =>
  `until test -e ${quote(tasks.folder.file(name))}; do sleep .05; done`;
const allow = (name: string) => writeFileSync(tasks.folder.file(name), '');

const SERVER = `'${process.execPath}' -e "require('net').createServer().listen(0, '127.0.0.1')"`;

test.each<[string, string, Omit<DetachedNotify, 'to'>, object]>([
  ['line', 'echo a; echo ready', { line: 'ready' }, { kind: 'line', line: 'ready' }],
  ['line', 'echo go 12', { line: /^go (\d+)$/ }, { kind: 'line', line: 'go 12' }],
  ['port', SERVER, { port: true }, { kind: 'listening', address: '127.0.0.1' }],
  ['silent', longSleep(7310), { silentMs: 200 }, { kind: 'silent' }],
  ['ended', 'exit 4', { ended: true }, { kind: 'ended', receipt: { outcome: { exitCode: 4 } } }],
])(
  'a detached command: its %s is told to the manager of that name',
  async (watch, command, notify, news) => {
    const { manager, of } = newRuntime('here');
    const task = await begin(command, { to: 'here', ...notify });
    await eventually(() => expect(of(task.id)).toHaveLength(1));
    expect(of(task.id)).toMatchObject([{ news: { ...news, watch } }]);
    await task.stop();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(of(task.id)).toHaveLength(1);
    manager.dispose();
  },
);

test('another name is not told', async () => {
  const [mine, other] = [newRuntime('mine'), newRuntime('other')];
  const task = await begin('echo x', { to: 'other', line: 'x', ended: true });
  await eventually(() => expect(other.of(task.id)).toHaveLength(2));
  expect(mine.told).toEqual([]);
  mine.manager.dispose();
  other.manager.dispose();
});

test('a host is killed: what was printed since is told at the start of the next one, once', async () => {
  const first = await hostOf('agent');
  const command = `echo early; ${until('one')}; echo ready now; ${until('two')}; exit 5`;
  const notify = { to: 'agent', line: 'ready', ended: true, port: 1 };
  first.host.child.stdin?.write(`${JSON.stringify({ command, options: { notify } })}\n`);
  await eventually(() => expect(first.said.at(-1)).toHaveProperty('id'));
  const id = tasks.note(String(first.said.at(-1)?.id));
  await endHost(first, 'SIGKILL');
  allow('one');
  await new Promise((resolve) => setTimeout(resolve, 300));

  const second = await hostOf('agent');
  expect(second.said[0]).toEqual({ watched: 1 });
  await eventually(() => expect(second.told(id)).toHaveLength(1));
  expect(second.told(id)).toMatchObject([
    { kind: 'line', line: 'ready now', watch: 'line', state: 'running' },
  ]);
  await endHost(second, 'SIGKILL');
  allow('two');

  const third = await hostOf('agent');
  await eventually(() => expect(third.told(id)).toHaveLength(1));
  expect(third.told(id)).toMatchObject([
    { kind: 'ended', watch: 'ended', unmet: ['port'], receipt: { outcome: { exitCode: 5 } } },
  ]);
  await endHost(third, 'SIGTERM');

  const fourth = await hostOf('agent');
  expect(fourth.said).toEqual([{ watched: 0 }]);
  await endHost(fourth, 'SIGTERM');
});

test.each<[string, string, Omit<DetachedNotify, 'to'>]>([
  ['line', 'echo before; exec sleep 30', { line: 'before' }],
  ['port', `exec ${SERVER}`, { port: true }],
  ['silent', 'exec sleep 30', { silentMs: 100 }],
  ['ended', 'exit 0', { ended: true }],
])('%s came true while no host was there', async (watch, command, notify) => {
  const to = `absent ${watch}`;
  const task = await begin(command, { to, ...notify });
  const { manager, of } = newRuntime(to);
  await eventually(() => expect(of(task.id)).toMatchObject([{ news: { watch } }]));
  manager.dispose();
  const again = newRuntime(to);
  expect(await again.manager.resume()).toBe(0);
  again.manager.dispose();
});

test('two hosts at once: each watch is told by one of them', async () => {
  const hosts = await Promise.all([hostOf('pair'), hostOf('pair')]);
  const ids: string[] = [];
  for (let count = 0; count < 12; count += 1) {
    const command = `${until('both')}; echo line ${count}`;
    const task = await begin(command, { to: 'pair', line: 'line', ended: true });
    ids.push(task.id);
  }
  // Both take them up: what others have detached is found when it is looked for.
  const more = await Promise.all([hostOf('pair'), hostOf('pair')]);
  expect(more.map(({ said }) => said[0])).toEqual([{ watched: 12 }, { watched: 12 }]);
  allow('both');
  const all = [...hosts, ...more];
  const told = (id: string) =>
    all.flatMap((one) => one.told(id)).map((one) => Reflect.get(one, 'watch'));
  await eventually(() => expect(ids.flatMap(told)).toHaveLength(24));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(ids.map((id) => told(id).sort())).toEqual(ids.map(() => ['ended', 'line']));
  await Promise.all(all.map((one) => endHost(one, 'SIGTERM')));
});

test('hosts are killed again and again: each watch is told once, and none is left', {
  tags: ['slow'],
}, async () => {
  const ids: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const command = `sleep ${(1 + count * 0.4).toFixed(1)}; echo ready; sleep .7; exit 3`;
    const task = await begin(command, { to: 'brittle', line: 'ready', silentMs: 400, ended: true });
    ids.push(task.id);
  }
  const told: object[] = [];
  const listen = async (host: Host): Promise<void> => {
    for (;;) told.push(await host.next());
  };
  const watches = () => told.flatMap((one) => (Reflect.get(one, 'told') as Told | undefined) ?? []);
  const begun = performance.now();
  for (let round = 0; performance.now() - begun < 12_000; round += 1) {
    const host = startHost('notify', { args: ['brittle'], env: { TMPDIR: tasks.folder.path } });
    void listen(host).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200 + ((round * 397) % 900)));
    host.child.kill('SIGKILL');
    await host.ended;
  }
  const last = await hostOf('brittle');
  await eventually(async () => {
    const again = await hostOf('brittle');
    expect(again.said[0]).toEqual({ watched: 0 });
  });
  told.push(...last.said);
  const seen = watches().map((one) => `${one.id} ${Reflect.get(one, 'watch')}`);
  expect(new Set(seen).size).toBe(seen.length);
  // A host may have been killed just after its mark, or the task may have ended before it was silent.
  expect(seen.filter((one) => / (?:line|ended)$/.test(one)).length).toBeGreaterThanOrEqual(14);
  expect(ids).toHaveLength(10);
});

test('nothing of it keeps a host alive', async () => {
  const { id } = await begin(longSleep(7311), { to: 'brief', line: 'never' });
  const script = `
    import { TaskManager } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)};
    const manager = new TaskManager({ name: 'brief', onEvent() {} });
    console.log(await manager.resume());`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script],
    { timeout: 20_000 },
  );
  expect(stdout).toBe('1\n');
  tasks.note(id);
});

test('a long output is not searched from its beginning again, and no line of it is missed', async () => {
  // In lines of the usual length: nine million empty ones take as long to search as a busy machine has.
  const filler = `yes ${'x'.repeat(79)} | head -c 9000000`;
  const command = `${filler}; ${until('cut')}; echo; printf 'half of '; ${until('rest')}; echo the line; exec sleep 30`;
  const task = await begin(command, { to: 'long', line: /^half of the line/ });
  const first = newRuntime('long');
  const files = () => readdirSync(dirname(task.record.outputFile));
  await eventually(() => expect(files()).toContain('notify.searched'));
  allow('cut');
  await eventually(async () =>
    expect((await task.read({ since: 9_000_000 })).text).toContain('half of '),
  );
  first.manager.dispose();
  const second = newRuntime('long');
  await second.manager.resume();
  allow('rest');
  await eventually(() =>
    expect(second.of(task.id)).toMatchObject([
      { news: { line: 'half of the line', watch: 'line' } },
    ]),
  );
  second.manager.dispose();
});

test('a command that can not be started leaves nothing to tell', async () => {
  const gone = tasks.folder.file('no such folder');
  await expect(begin('true', { to: 'nothing', ended: true }, { cwd: gone })).rejects.toThrow();
  const { manager, told } = newRuntime('nothing');
  expect(await manager.resume()).toBe(0);
  expect(told).toEqual([]);
  manager.dispose();
});

test('a lost task is told as such, with all that is open', async () => {
  const { manager, of } = newRuntime('lost');
  const task = await begin(longSleep(7312), { to: 'lost', line: 'x', ended: true });
  process.kill(parentOf(task.record.pid), 'SIGKILL');
  await untilState(task.subject, 'lost');
  await eventually(() =>
    expect(of(task.id)).toMatchObject([{ news: { kind: 'lost', unmet: ['line', 'ended'] } }]),
  );
  manager.dispose();
});

test.each<[unknown, RegExp]>([
  [{ ended: true }, /^notify\.to: expected the name of a TaskManager, got nothing$/],
  [{ to: '', ended: true }, /^notify\.to: expected a text of 1 to 200 characters, got ""$/],
  [{ to: 'x' }, /^notify: expected at least one of line, port, silentMs and ended$/],
  [{ to: 'x', end: true }, /^notify\.end: not known here, did you mean ended\?$/],
])('notify: %j is refused', async (notify, message) => {
  await expect(detach('true', { notify: notify as DetachedNotify })).rejects.toThrow(message);
});

test('a wrong name of a manager is refused, and one without a name has nothing to resume', async () => {
  expect(() => new TaskManager({ name: '' })).toThrow(/^name: expected a text of 1 to 200/);
  await expect(new TaskManager().resume()).rejects.toThrow(/^name: expected a manager with a name/);
});

test('what another host has marked is not told, even if that host has been killed since', async () => {
  const { manager, of } = newRuntime('blocked');
  const task = await begin(`${until('marks')}; echo x`, { to: 'blocked', line: 'x' });
  writeFileSync(`${dirname(task.record.outputFile)}/notify.told.line`, '');
  allow('marks');
  await untilState(task.subject, 'ended');
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(of(task.id)).toEqual([]);
  manager.dispose();
});
