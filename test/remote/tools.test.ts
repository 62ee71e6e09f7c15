import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ArtifactError, InputError, ToolError } from '../../src/index.js';
import { createMcpServer } from '../../src/mcp/index.js';
import { BusyError, connect, serveStream } from '../../src/remote/index.js';
import { encodeFrame, FRAME } from '../../src/remote/wire/frames.js';
import { PREAMBLE, PROTOCOL } from '../../src/remote/wire/protocol.js';
import { longSleep, sleeping } from '../support/commands.js';
import { FAR_SIDE, memoryLine, useFar } from '../support/far.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';
import { textOf } from '../support/tool.js';

const far = await useFar();
leavesNothingBehind();
const folder = useFolder();

/** A far side that says no more than its greeting. */
function greeting(more: object): readonly string[] {
  const payload = Buffer.from(JSON.stringify({ protocol: PROTOCOL, version: '0', ...more }));
  const frame = encodeFrame({ kind: FRAME.hello, more: false, call: 0, payload });
  const said = Buffer.concat([Buffer.from(PREAMBLE), frame]).toString('base64');
  const script = `process.stdout.write(Buffer.from('${said}', 'base64')); process.stdin.resume()`;
  return [process.execPath, '-e', script];
}

test('a far side tells in its greeting that it has tools', async () => {
  expect(far.hasTools).toBe(true);
  const { toFar, toNear, service } = memoryLine();
  let said = '';
  toNear.on('data', (bytes: Buffer) => {
    said += bytes.toString('latin1');
  });
  await eventually(() =>
    expect(said).toMatch(/"takes":\["command","tool","execute","task","artifacts"[\],]/),
  );
  toFar.end();
  await service.closed;
});

test.each([
  [{}, true],
  [{ takes: 'command' }, true],
  [{ takes: ['command', 'tool'] }, true],
  [{ takes: ['command'] }, false],
  [{ takes: [] }, false],
])('a greeting of %j tells whether the far side may have tools: %j', async (more, has) => {
  const there = await connect({ command: greeting(more) });
  expect(there.hasTools).toBe(has);
  const making = failureOf(there.createBashTool({ contract: 'plain' }));
  if (!has) {
    // It is not asked.
    expect(await making).toMatchObject({
      name: 'InputError',
      message: expect.stringMatching(/^createBashTool: expected a far side with tools, got one/),
    });
  }
  await there.dispose();
  await making;
});

test('whole outputs stay at the far side, and are read in parts', async () => {
  const bash = await far.createBashTool({ contract: 'workspace', cwd: folder.path });
  const answer = await bash.execute({ command: 'seq 1 1000000' });
  const { artifacts } = bash;
  if (artifacts === undefined) throw new Error('expected artifacts');
  const [artifact] = await artifacts.list();
  expect(textOf(answer)).toContain(`artifact://${artifact?.id}`);
  expect(artifact).toMatchObject({ bytes: 6_888_896, tool: 'bash' });
  const id = artifact?.id ?? '';
  expect(await artifacts.find(id)).toEqual(artifact);
  const whole = Buffer.from(await artifacts.read(id));
  expect(whole.equals(readFileSync(artifact?.path ?? ''))).toBe(true);
  const text = async (range: object) =>
    Buffer.from(await artifacts.read(id, range as never)).toString();
  expect(await text({ unit: 'bytes', start: 2, end: 9 })).toBe('2\n3\n4\n5');
  expect(await text({ unit: 'bytes', start: 6_888_889 })).toBe('000000\n');
  expect(await text({ unit: 'lines', start: 999_999 })).toBe('999999\n1000000\n');
  const kept = await artifacts.save('note', Buffer.from('kept there'));
  expect(Buffer.from(await artifacts.read(kept.id)).toString()).toBe('kept there');
  expect(await failureOf(artifacts.read('99'))).toBeInstanceOf(ArtifactError);
  const wrong = await failureOf(artifacts.read(id, { unit: 'bytes', start: 5, end: 2 }));
  expect(wrong).toBeInstanceOf(InputError);
  expect((wrong as Error).message).toBe('range.end: expected a whole number of 5 or more, got 2');
  await bash.dispose();
});

test('H13: a call that is cancelled has its caller’s reason as the cause', async () => {
  const bash = await far.createBashTool({ contract: 'plain', cwd: folder.path });
  const controller = new AbortController();
  const failing = failureOf(bash.execute({ command: longSleep(179) }, controller));
  await eventually(() => expect(sleeping(179)).toHaveLength(1));
  const reason = new Error('the user pressed a key');
  controller.abort(reason);
  expect(await failing).toMatchObject({ name: 'ToolAbortError', cause: reason });
  await bash.dispose();
});

test('C4: an input of null is reported as null', async () => {
  const bash = await far.createBashTool({ contract: 'session', cwd: folder.path });
  const error = await failureOf(bash.execute(null));
  expect(error).toMatchObject({ kind: 'input', message: 'input: expected an object, got null' });
  await bash.dispose();
});

test('tasks are followed, waited for and ended, where their ports and processes are', async () => {
  const bash = await far.createBashTool({ contract: 'session', cwd: folder.path });
  const { tasks } = bash;
  if (tasks === undefined) throw new Error('expected tasks');
  const news: string[] = [];
  tasks.subscribe((event) => news.push(...event.news.map(({ kind }) => kind)));
  const serve = `python3 -c "
import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print('ready', flush=True); time.sleep(99)"`;
  await bash.execute({ command: serve, run_in_background: true });
  const [task] = tasks.list();
  expect(task?.state).toBe('running');
  expect(await task?.wait({ line: /^rea/ })).toMatchObject({ kind: 'line', line: 'ready' });
  expect(await task?.wait({ port: true })).toMatchObject({ kind: 'listening' });
  expect((await task?.members())?.length).toBeGreaterThan(0);
  await eventually(() => expect(news).toContain('listening'));
  expect(await task?.wait({ silentMs: 50, atMostMs: 5000 })).toMatchObject({ kind: 'silent' });
  const controller = new AbortController();
  const waiting = failureOf(
    task?.wait({ ended: true }, { signal: controller.signal }) ?? Promise.resolve(),
  );
  controller.abort(new Error('enough'));
  expect(await waiting).toMatchObject({ message: 'enough' });
  await task?.stop({ graceMs: 200 });
  expect(await task?.ended).toMatchObject({ result: 'cancelled' });
  expect(task?.state).toBe('ended');
  await eventually(() => expect(news).toEqual(expect.arrayContaining(['ended', 'gone'])));
  await bash.dispose();
});

test('a task is written to, and its whole text is there at its end', async () => {
  const bash = await far.createBashTool({ contract: 'workspace', cwd: folder.path, async: true });
  await bash.execute({ command: 'read line; echo "got $line"', async: true, stdin: true });
  const [task] = bash.tasks?.list() ?? [];
  await task?.write('it\n');
  expect((await task?.ended)?.text).toContain('got it');
  expect(await task?.read()).toMatchObject({ text: 'got it\n', missedBytes: 0 });
  const listed = await bash.job?.execute({ list: true });
  expect(listed && textOf(listed)).toContain('bg_1');
  await bash.dispose();
});

test('a terminal of a task is typed into and seen there, and what it waits for', async () => {
  const bash = await far.createBashTool({ contract: 'session', cwd: folder.path });
  const command = 'read -rp "Name? " name; read -rsp "Password: " p; sleep 60';
  await bash.execute({ command, run_in_background: true, pty: true });
  const [task] = bash.tasks?.list() ?? [];
  await task?.wait({ line: 'Name?' });
  await eventually(async () => expect(await task?.waitsFor()).toBe('terminal'));
  await task?.press(['A', 'n', 'n', 'enter']);
  await eventually(async () => expect(await task?.waitsFor()).toBe('password'));
  await eventually(async () => expect(await task?.screen()).toMatch(/^Name\? Ann\nPassword: ?\n$/));
  expect(await failureOf(task?.resize(80, 24) ?? Promise.resolve())).toMatchObject({
    message: 'resize: expected a task of this host, got one of a far side',
  });
  const written = await bash.writeTask.execute({ task_id: task?.id ?? '', keys: ['enter'] });
  expect(textOf(written)).toContain('status: running');
  await bash.dispose();
});

test('a tool is disposed of there, with its tasks, and by its connection', async () => {
  const own = await connect({ command: FAR_SIDE });
  const bash = await own.createBashTool({ contract: 'session', cwd: folder.path });
  await bash.execute({ command: longSleep(181), run_in_background: true });
  await eventually(() => expect(sleeping(181)).toHaveLength(1));
  await bash.dispose();
  expect(sleeping(181)).toEqual([]);
  expect(await failureOf(bash.execute({ command: 'true' }))).toMatchObject({ kind: 'disposed' });
  const other = await own.createBashTool({ contract: 'session', cwd: folder.path });
  await other.execute({ command: longSleep(181), run_in_background: true });
  const [task] = other.tasks?.list() ?? [];
  await own.dispose();
  expect(sleeping(181)).toEqual([]);
  await eventually(() => expect(task?.state).toMatch(/ended|lost/));
});

test('an MCP server takes a tool of a far side', async () => {
  const bash = await far.createBashTool({ contract: 'session', cwd: folder.path });
  expect(() => createMcpServer(bash)).not.toThrow();
  await bash.dispose();
});

test('functions and objects are refused by name, and have their place in a profile', async () => {
  const interceptor = { enabled: true, tools: ['read'], rules: [/x/] };
  const making = far.createBashTool({ contract: 'workspace', interceptor: interceptor as never });
  const error = await failureOf(making);
  expect(error).toBeInstanceOf(InputError);
  expect((error as Error).message).toBe(
    'interceptor.rules[0]: expected plain data, since it goes to another machine, got an object of ' +
      'RegExp; put it into a profile of the far side',
  );
  const unknown = await failureOf(far.createBashTool({ contract: 'plain', profile: 'agents' }));
  expect((unknown as Error).message).toBe(
    'profile: expected one of the far side (no profiles), got "agents"',
  );
  const module = folder.file('profiles.mjs');
  const log = folder.file('log');
  writeFileSync(
    module,
    `import { appendFileSync } from 'node:fs';
     const log = { append: ({ command }) => appendFileSync(${JSON.stringify(log)}, command) };
     export const profiles = { agents: { cwd: '/usr', log } };`,
  );
  const own = await connect({ command: [...FAR_SIDE, '--profiles', module] });
  const bash = await own.createBashTool({ contract: 'plain', profile: 'agents', timeout: 5 });
  expect(JSON.parse(textOf(await bash.execute({ command: 'pwd' })))).toMatchObject({
    stdout: '/usr\n',
  });
  await bash.dispose();
  expect(readFileSync(log, 'utf8')).toBe('pwd');
  await own.dispose();
});

test('a client has a limit of calls and tools, and nothing beyond it is started', async () => {
  const limited = `
    const { serveStream } = await import(${JSON.stringify(new URL('../../dist/remote/index.js', import.meta.url).href)});
    await serveStream({ maxCalls: 2, maxSessions: 1, maxBytes: 100000 }).closed; process.exit();`;
  const own = await connect({ command: [process.execPath, '--input-type=module', '-e', limited] });
  const controller = new AbortController();
  const running = [1, 2].map(() => own.run(longSleep(182), { signal: controller.signal }));
  await eventually(() => expect(sleeping(182)).toHaveLength(2));
  expect(await failureOf(own.run('true'))).toBeInstanceOf(BusyError);
  controller.abort();
  await Promise.all(running);
  const bash = await own.createBashTool({ contract: 'plain' });
  const second = own.createBashTool({ contract: 'plain' });
  expect(await failureOf(second)).toMatchObject({ name: 'BusyError' });
  await bash.dispose();
  const again = await own.createBashTool({ contract: 'plain' });
  const long = await failureOf(again.execute({ command: `# ${'x'.repeat(100_000)}` }));
  expect(long).toBeInstanceOf(ToolError);
  expect((long as Error).message).toMatch(/^input: expected at most 100000 bytes as JSON, got/);
  expect((await failureOf(own.run('x'.repeat(100_000)))) as Error).toBeInstanceOf(InputError);
  await own.dispose();
});

test("bytes that are no client's end the service, without an answer", async () => {
  const { toFar, service } = memoryLine();
  toFar.write('GET / HTTP/1.1\r\n\r\n');
  await service.closed;
  expect(() => serveStream({ maxCalls: 0 })).toThrow('maxCalls: expected a whole number from 1');
});
