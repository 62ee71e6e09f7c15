import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TaskManager, type ToolResult, type WorkspaceDetails } from '../../../../src/index.js';
import { longSleep, sleeping } from '../../../support/commands.js';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { failureOf } from '../../../support/results.js';
import { useJobTools } from '../../../support/tasks.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();

const makeTool = useJobTools();

const withoutTimes = (text: string) => text.replace(/\d+\.\d\d seconds/g, 'T seconds');

type Update = ToolResult<Partial<WorkspaceDetails>>;

test('a command in the background is answered at once, and polled for its result', async () => {
  const { bash, job } = makeTool();
  const started = await bash.execute({ command: 'sleep 0.3; echo hi', async: true, timeout: 7200 });
  expect(textOf(started)).toBe(
    'Timeout clamped to 3600s (requested 7200s; allowed range 1-3600s).\n\n' +
      'Background job bg_1 started: sleep 0.3; echo hi\n' +
      'To wait for it, call the job tool with {"poll": ["bg_1"]}; {"list": true} shows all jobs.',
  );
  expect(started.details).toEqual({
    timeoutSeconds: 3600,
    requestedTimeoutSeconds: 7200,
    async: { state: 'running', jobId: 'bg_1', type: 'bash' },
  });
  const ended = await job({ poll: ['bg_1'] });
  expect(withoutTimes(textOf(ended))).toBe(
    'Job bg_1 completed after T seconds: sleep 0.3; echo hi\n\n' +
      'hi\n\nWall time: T seconds\n' +
      'Timeout clamped to 3600s (requested 7200s; allowed range 1-3600s).',
  );
  expect(ended.details.jobs).toMatchObject([{ id: 'bg_1', state: 'ended', result: 'completed' }]);
  expect(withoutTimes(textOf(await job({ poll: ['bg_1'] })))).toBe(
    'Job bg_1 completed after T seconds: sleep 0.3; echo hi\n\n' +
      'Its output was delivered before. It is kept: artifact://0',
  );
});

test('a job that fails says how', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'echo no; exit 3', async: true });
  await bash.execute({ command: 'echo so far; sleep 30', async: true, timeout: 1 });
  expect(textOf(await job({ poll: ['bg_1'] }))).toMatch(
    /^Job bg_1 failed after .*\n\nno\n\nWall time: .*\n\nCommand exited with code 3$/,
  );
  expect(textOf(await job({ poll: ['bg_2'] }))).toMatch(
    /^Job bg_2 failed after .*\n\nso far\n\nCommand timed out after 1 second\nFor more time, .*\.$/,
  );
});

test('updates go on after the answer, say whose they are, and end with the end', async () => {
  const { bash, job } = makeTool();
  const updates: Update[] = [];
  const command = 'echo one; sleep 0.2; echo two; sleep 0.2; exit 4';
  await bash.execute({ command, async: true }, { onUpdate: (update) => updates.push(update) });
  await job({ poll: ['bg_1'] });
  const last = updates.at(-1);
  expect(last?.details).toEqual({
    async: { state: 'failed', jobId: 'bg_1', type: 'bash' },
    receipt: expect.objectContaining({ outcome: { kind: 'exited', exitCode: 4 } }),
  });
  expect(last && textOf(last)).toMatch(/^one\ntwo\n\n.*\n\nCommand exited with code 4$/);
  const before = updates.slice(0, -1);
  expect(before.map(textOf)).toContain('one\n');
  for (const { details } of before) {
    expect(details).toEqual({ async: { state: 'running', jobId: 'bg_1', type: 'bash' } });
  }
});

test('calls are not held up by a job; a job outlives the signal of its call', async () => {
  const { bash, job } = makeTool();
  const controller = new AbortController();
  await bash.execute({ command: 'sleep 0.5; echo done', async: true }, controller);
  controller.abort();
  expect(textOf(await bash.execute({ command: 'echo now' }))).toMatch(/^now\n/);
  expect(textOf(await job({ poll: [] }))).toContain('\n\ndone\n\n');
});

test('a running job is listed, shown with its last output, and cancelled with all it started', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: `echo busy; ${longSleep(41)} & ${longSleep(41)}`, async: true });
  await bash.execute({ command: 'true', async: true });
  await job({ poll: ['bg_2'] });
  await eventually(() => expect(sleeping(41)).toHaveLength(2));
  const list = withoutTimes(textOf(await job({ list: true })));
  expect(list).toMatch(
    /^bg_1 running for T seconds: echo busy; sleep .*\nbg_2 completed after T seconds: true$/,
  );
  await bash.execute({ command: 'true', async: true });
  const shown = textOf(await job({ poll: ['bg_1', 'bg_3'] }));
  expect(shown).toMatch(/^Job bg_1 running for .*\n\nbusy\n\nJob bg_3 completed/);
  const cancelled = await job({ cancel: ['bg_1'] });
  expect(textOf(cancelled)).toMatch(
    /^Job bg_1 cancelled after .*\n\nbusy\n\n.*Command cancelled$/s,
  );
  expect(cancelled.details.jobs).toMatchObject([{ state: 'ended', result: 'cancelled' }]);
  expect(sleeping(41)).toEqual([]);
}, 60_000);

test('B13: a long command becomes a job by itself, one that is short does not', async () => {
  const { bash, job } = makeTool({ async: false, autoBackground: { afterMs: 300 } });
  const quick = await bash.execute({ command: 'echo quick' });
  expect(textOf(quick)).toMatch(/^quick\n\nWall time/);
  expect(await job({ list: true })).toMatchObject({
    content: [{ text: 'There are no background jobs.' }],
  });
  const updates: Update[] = [];
  const call = { onUpdate: (update: Update) => updates.push(update) };
  const slow = await bash.execute({ command: 'echo early; sleep 0.6; echo late' }, call);
  expect(textOf(slow)).toMatch(
    /^early\n\nStill running after 0\.3 seconds; it goes on as background job bg_1: echo early; sleep 0\.6/,
  );
  expect(slow.details).toMatchObject({ async: { state: 'running', jobId: 'bg_1' } });
  expect(updates.map(({ details }) => details)).toEqual([{}]);
  expect(textOf(await job({ poll: ['bg_1'] }))).toContain('\n\nearly\nlate\n\nWall time');
  expect(updates.at(-1)?.details.async?.state).toBe('completed');
});

test('a command becomes a job a second before its timeout at the latest', async () => {
  const { bash, job } = makeTool({ async: false, autoBackground: true });
  const started = await bash.execute({ command: 'sleep 30', timeout: 1.5 });
  expect(started.details.async?.jobId).toBe('bg_1');
  expect(textOf(await job({ poll: ['bg_1'] }))).toContain('Command timed out after 1.5 seconds');
});

test('C3: a time that no timer of Node knows is not a short one', async () => {
  const { bash } = makeTool({
    async: false,
    autoBackground: { afterMs: 2 ** 31 },
    timeout: { max: 10_000_000 },
  });
  const ended = await bash.execute({ command: 'sleep 0.2; echo here', timeout: 5_000_000 });
  expect(textOf(ended)).toMatch(/^here\n\nWall time/);
});

test('a call that is cancelled before that ends its command', async () => {
  const { bash, job } = makeTool({ async: false, autoBackground: true });
  const signal = AbortSignal.timeout(200);
  const error = await failureOf(bash.execute({ command: 'echo a; sleep 30' }, { signal }));
  expect(error).toMatchObject({ name: 'ToolAbortError', message: 'a\n\nCommand cancelled' });
  expect((await job({ list: true })).details.jobs).toEqual([]);
});

test('no more jobs run than may; by itself a command then stays where it is', async () => {
  const tasks = new TaskManager({ maxRunning: 1 });
  const { bash, job } = makeTool({ tasks, autoBackground: { afterMs: 50 } });
  await bash.execute({ command: 'sleep 30', async: true });
  const error = await failureOf(bash.execute({ command: 'echo x', async: true }));
  expect(error).toMatchObject({
    name: 'ToolError',
    kind: 'jobLimit',
    message: expect.stringMatching(/^Too many commands in the background: 1 run/),
  });
  const stays = await bash.execute({ command: 'sleep 0.3; echo stayed' });
  expect(textOf(stays)).toMatch(/^stayed\n\nWall time/);
  await job({ cancel: ['bg_1'] });
});

test('the runtime is told of an end that no call waits for', async () => {
  const told: unknown[] = [];
  const tasks = new TaskManager({
    onEnd: ({ id, result }, { text }) => told.push({ id, result, text }),
  });
  const { bash } = makeTool({ tasks });
  await bash.execute({ command: 'echo hi', async: true });
  await eventually(() =>
    expect(told).toEqual([
      { id: 'bg_1', result: 'completed', text: expect.stringMatching(/^hi\n\nWall time/) },
    ]),
  );
});

test('disposal ends the jobs', async () => {
  const { bash, job } = makeTool({ tasks: new TaskManager() });
  await bash.execute({ command: longSleep(42), async: true });
  await eventually(() => expect(sleeping(42)).toHaveLength(1));
  await bash.dispose();
  expect(sleeping(42)).toEqual([]);
  expect((await job({ list: true })).details.jobs).toMatchObject([
    { state: 'ended', result: 'cancelled' },
  ]);
});

test('long output of a job is bounded and kept like that of any command', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'seq 1 100000; sleep 0.5', async: true });
  const text = textOf(await job({ poll: ['bg_1'] }));
  expect(text).toContain('(50.0KB limit). Read artifact://0 for full output: sed -n ');
  expect(text.length).toBeLessThan(52_000);
});

test('B7: a field that is not offered is not in the schema, and its error says what to do', async () => {
  const { bash } = makeTool({ async: false });
  expect(bash.inputSchema.properties).not.toHaveProperty('async');
  expect(bash.job).toBeUndefined();
  expect(await failureOf(bash.execute({ command: 'true', async: true }))).toMatchObject({
    kind: 'input',
    message:
      'Async bash execution is disabled. Leave `async` out: the command is waited for then, ' +
      'as long as its `timeout` lets it run.',
  });
  expect(textOf(await bash.execute({ command: 'echo a', async: false }))).toMatch(/^a\n/);
  const { bash: alone } = makeTool({ tasks: false });
  expect(alone.inputSchema.properties).toHaveProperty('async');
  expect(await failureOf(alone.execute({ command: 'true', async: true }))).toMatchObject({
    message: 'Async job manager unavailable for this session.',
  });
});

test.each([
  [{}, 'input: expected exactly one of poll, cancel, write and list'],
  [{ poll: ['bg_1'], list: true }, 'input: expected exactly one of poll, cancel, write and list'],
  [{ list: false }, 'input: expected exactly one of poll, cancel, write and list'],
  [{ poll: 'bg_1' }, 'poll: expected an array, got "bg_1"'],
  [{ poll: ['bg_7'] }, 'Unknown id: bg_7. Nothing is in the background.'],
])('the job tool refuses %j', async (input, message) => {
  const { job } = makeTool();
  expect(await failureOf(job(input))).toMatchObject({ kind: 'input', message });
});

test('a label is one line of at most 120 characters', async () => {
  const { bash, job } = makeTool();
  const started = await bash.execute({ command: `: 'a\n  b'; : ${'😀'.repeat(200)}`, async: true });
  const label = /started: (.*)\n/.exec(textOf(started))?.[1] ?? '';
  expect(label).toBe(`: 'a b'; : ${'😀'.repeat(108)}…`);
  expect([...label]).toHaveLength(120);
  await job({ poll: ['bg_1'] });
});

test('waiting for a job can be cancelled; the job goes on', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'sleep 30', async: true });
  const signal = AbortSignal.timeout(100);
  const poll = bash.job?.execute({ poll: ['bg_1'] }, { signal }) ?? Promise.resolve();
  expect(await failureOf(poll)).toMatchObject({
    name: 'ToolAbortError',
    message: 'Waiting cancelled',
  });
  expect((await job({ list: true })).details.jobs).toMatchObject([{ state: 'running' }]);
});

test('an ended job does not keep the process alive', () => {
  const entry = fileURLToPath(new URL('../../../../dist/index.js', import.meta.url));
  const script = `
    import { createBashTool } from ${JSON.stringify(entry)};
    const bash = createBashTool({
      contract: 'workspace', cwd: '/', async: true, autoBackground: true,
    });
    await bash.execute({ command: 'echo done', async: true });
    console.log((await bash.job.execute({ poll: ['bg_1'] })).content[0].text.includes('done'));
  `;
  const args = ['--input-type=module', '-e', script];
  const output = execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 });
  expect(output).toBe('true\n');
});

test('B9: a job is written to, waited for by what it prints, and shown by what is new', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'echo up; read -r x; echo "got $x"', async: true, stdin: true });
  expect(textOf(await job({ poll: ['bg_1'], line: 'up' }))).toMatch(
    /^Job bg_1 running for .*\n\nup\n\nIt has printed: up$/,
  );
  expect(textOf(await job({ write: { id: 'bg_1', text: 'it\n' }, silent: 20 }))).toMatch(
    /^Job bg_1 completed after .*\n\nup\ngot it\n\nWall time/,
  );
});

test('a job that has left processes is not told to be completed, and can be ended', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: `${longSleep(7201)} & echo up`, async: true });
  expect(textOf(await job({ poll: ['bg_1'] }))).toMatch(
    /^Job bg_1 ended after [\d.]+ seconds, and processes of it still run: /,
  );
  const { details } = await job({ cancel: ['bg_1'] });
  expect(details.jobs).toMatchObject([{ state: 'ended', result: 'completed' }]);
  expect(sleeping(7201)).toEqual([]);
});

test('stdin is for what runs in the background', async () => {
  const { bash, job } = makeTool();
  expect(await failureOf(bash.execute({ command: 'cat', stdin: true }))).toMatchObject({
    kind: 'input',
    message: 'stdin: expected to come with `async: true`',
  });
  await bash.execute({ command: 'sleep 60', async: true });
  expect(await failureOf(job({ write: { id: 'bg_1', text: 'x' } }))).toMatchObject({
    message:
      'bg_1: it has no stdin. End it, and start its command again with `stdin: true` to write to it, or ' +
      'with `pty: true` for a terminal.',
  });
});
