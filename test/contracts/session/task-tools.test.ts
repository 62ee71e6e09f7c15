import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { BashTool, SessionTool, TaskEvent } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { data, pwd, startTask, useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

/** What a tool answers. */
async function say(tool: BashTool, input: object): Promise<string> {
  return textOf(await tool.execute(input));
}

/** Starts a command with an open stdin. */
async function startTalk(tool: SessionTool, command: string): Promise<string> {
  const { task_id } = await data(tool, command, { run_in_background: true, stdin: true });
  return String(task_id);
}

test('B9: a task is ended, with all that it has started, and returned', async () => {
  const tool = newSession();
  const id = await startTask(tool, `echo begun; ${longSleep(7101)} & setsid ${longSleep(7101)}`);
  await eventually(() => expect(sleeping(7101)).toHaveLength(2));
  expect(await say(tool.killTask, { task_id: id })).toBe(
    `task_id: ${id}\nstatus: killed\n\nbegun\n\nCommand cancelled`,
  );
  expect(sleeping(7101)).toEqual([]);
  expect(await say(tool.killTask, { task_id: id })).toContain(`Task not found: ${id}`);
});

test('B9: new output is shown, even beyond the limit of the whole', async () => {
  const tool = newSession({ maxCharacters: 10 });
  const id = await startTalk(tool, 'seq 1000; read -r x; echo $x; sleep 60');
  const first = await say(tool.taskOutput, { task_id: id, line: '1000' });
  expect(first).toContain('\n999\n1000\n');
  expect(await say(tool.writeTask, { task_id: id, text: 'hello\n', line: 'hello' })).toBe(
    `task_id: ${id}\nstatus: running\n\nhello\n\nIt has printed: hello`,
  );
  expect(await say(tool.taskOutput, { task_id: id, new: true })).toBe(
    `task_id: ${id}\nstatus: running\n\n(nothing new since the last look)`,
  );
});

test('B9: tasks are listed', async () => {
  const tool = newSession();
  expect(await say(tool.listTasks, {})).toBe('There are no tasks.');
  const ids = [await startTask(tool, 'sleep 60'), await startTask(tool, 'exit 3')];
  await eventually(async () =>
    expect(await say(tool.listTasks, {})).toMatch(
      new RegExp(
        `^${ids[0]} running for \\d+\\.\\d\\d seconds: sleep 60\n` +
          `${ids[1]} failed after \\d+\\.\\d\\d seconds: exit 3$`,
      ),
    ),
  );
});

test('B10: all of the output of a task that has been returned is where it says', async () => {
  const tool = newSession({ maxCharacters: 100 });
  const [long, short] = [await startTask(tool, 'seq 100000'), await startTask(tool, 'echo hi')];
  const end = await say(tool.taskOutput, { task_id: long, seconds: 20 });
  const path = /All of its output: (.+)$/m.exec(end)?.[1] ?? '';
  expect(readFileSync(path, 'utf8')).toMatch(/^1\n2\n[\d\n]*\n100000\n$/);
  expect(await say(tool.taskOutput, { task_id: long })).toContain(
    `It has been returned as completed. All of its output: ${path}`,
  );
  await tool.taskOutput.execute({ task_id: short, seconds: 20 });
  const again = await say(tool.taskOutput, { task_id: short });
  expect(readFileSync(/output: (.+)$/.exec(again)?.[1] ?? '', 'utf8')).toBe('hi\n');
});

test('a task whose command has left processes is not completed, and can be ended', async () => {
  const tool = newSession();
  const id = await startTask(tool, `${longSleep(7102)} & echo up`);
  const left = await say(tool.taskOutput, { task_id: id, seconds: 20 });
  expect(left).toMatch(
    new RegExp(
      `^task_id: ${id}\nstatus: left: its command has ended, processes of it still run; ` +
        'kill_task ends them\n\nup\n\nStill running in the background: ',
    ),
  );
  expect(await say(tool.taskOutput, { task_id: id })).toContain(
    'Its end has been returned before.',
  );
  expect(await say(tool.killTask, { task_id: id })).toMatch(
    /status: completed\n\nIts end has been returned before\. None of its processes runs any more\./,
  );
  expect(sleeping(7102)).toEqual([]);
  expect(await say(tool.taskOutput, { task_id: id })).toContain('Task not found');
});

test('waiting: for a port, for silence, for the end, and no longer than it is told', async () => {
  const tool = newSession();
  const server = await startTask(tool, 'exec python3 -u -m http.server 0 --bind 127.0.0.1 2>&1');
  const said = await say(tool.taskOutput, { task_id: server, line: 'port' });
  const port = Number(/ port (\d+)/.exec(said)?.[1]);
  expect(await say(tool.taskOutput, { task_id: server, port: 1, seconds: 0.2 })).toMatch(
    /Nothing of that has happened within 0\.2 seconds\.$/,
  );
  expect(await say(tool.taskOutput, { task_id: server, port })).toMatch(
    new RegExp(`It listens on port ${port} \\(127\\.0\\.0\\.1\\)\\.$`),
  );
  const asks = await startTalk(tool, 'read -p "Name? " -r x; echo "Hi $x"');
  expect(await say(tool.taskOutput, { task_id: asks, silent: 0.3 })).toMatch(
    /It has printed nothing for [\d.]+ seconds, and waits for input on its stdin\.$/,
  );
  expect(await say(tool.writeTask, { task_id: asks, text: 'Ann\n', silent: 20 })).toBe(
    `task_id: ${asks}\nstatus: completed\n\nHi Ann`,
  );
});

test('T3: a wait for a port goes on for what a command has left, and tells its end too', async () => {
  const tool = newSession();
  const server = 'exec python3 -u -m http.server 0 --bind 127.0.0.1';
  const late = `echo up; (sleep .7; ${server}) >/dev/null 2>&1 &`;
  const id = await startTask(tool, late);
  await tool.tasks?.get(id)?.wait({});
  const said = await say(tool.taskOutput, { task_id: id, port: 1, seconds: 0.1 });
  expect(said).toMatch(
    /status: left: .*\n\nup\n\nNothing of that has happened within 0\.1 seconds\.\n/,
  );
  // As in the wait of a runtime; the end was told, and what comes now is not lost beside it.
  const { structured } = await tool.listTasks.execute({});
  expect(structured).toMatchObject({ tasks: [{ task_id: id, state: 'left' }] });
  const task = tool.tasks?.get(id);
  const awaited = await task?.wait({ port: true });
  const port = awaited?.kind === 'listening' ? awaited.port : 0;
  expect(await say(tool.taskOutput, { task_id: id, port })).toMatch(
    new RegExp(
      `^task_id: ${id}\nstatus: left: .*\n\nIts end has been returned before.[^\n]*\n\n` +
        `It listens on port ${port} \\(127\\.0\\.0\\.1\\)\\.$`,
    ),
  );
  await tool.killTask.execute({ task_id: id });
});

test('a task that cannot be written to says why', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'sleep 60');
  expect(await failureOf(tool.writeTask.execute({ task_id: id, text: 'x' }))).toMatchObject({
    kind: 'input',
    message:
      `${id}: it has no stdin. End it, and start its command again with \`stdin: true\` to write to it, or ` +
      'with `pty: true` for a terminal.',
  });
  const closed = await startTalk(tool, 'exec <&-; echo closed; sleep 60');
  await say(tool.taskOutput, { task_id: closed, line: 'closed' });
  expect(await failureOf(tool.writeTask.execute({ task_id: closed, text: 'x' }))).toMatchObject({
    message: `${closed}: its stdin is closed, so nothing more can be written to it`,
  });
});

test('a call that takes long is answered before, and goes on as a task', async () => {
  const tool = newSession({ autoBackgroundMs: 200 });
  const answer = await tool.execute({ command: 'cd /usr; echo one; sleep .6; echo two' });
  const id = answer.details.task?.id;
  expect(textOf(answer)).toMatch(
    new RegExp(
      `^one\n\nStill running after 0\\.2 seconds; it goes on in the background with task_id: ${id}`,
    ),
  );
  expect(await say(tool.taskOutput, { task_id: id, seconds: 20 })).toMatch(
    new RegExp(`^task_id: ${id}\nstatus: completed\n\ntwo\n\nAll of its output: /`),
  );
  // Where it went is nothing to the session any more.
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
  expect(await data(tool, 'cd /usr; echo fast')).toMatchObject({ stdout: 'fast\n', cwd: '/usr' });
});

test('a runtime is told of all, and what it is told of is not told to the model', async () => {
  const events: TaskEvent[] = [];
  const ends: string[] = [];
  const tool = newSession({
    tasks: { onEvent: (event) => events.push(event), onEnd: (_, { text }) => ends.push(text) },
  });
  const id = await startTask(tool, 'echo hi');
  await eventually(() => expect(events.at(-1)?.news.at(-1)).toEqual({ kind: 'gone' }));
  expect(ends).toEqual(['hi\n']);
  expect(events.map(({ output }) => output?.text).join('')).toBe('hi\n');
  expect(await say(tool.taskOutput, { task_id: id })).toMatch(/Its end has been returned before/);
});

test('a task is interrupted as by Ctrl-C, and goes on if it wants to', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'trap "echo caught" INT; echo up; while :; do sleep 0.05; done');
  await say(tool.taskOutput, { task_id: id, line: 'up' });
  expect(await say(tool.writeTask, { task_id: id, text: '\x03', line: 'caught' })).toMatch(
    /^task_id: \S+\nstatus: running\n\ncaught\n\nIt has printed: caught$/,
  );
});
