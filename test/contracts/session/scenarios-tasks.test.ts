import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { unknownTaskResult } from '../../../src/contracts/session/tasks/result.js';
import { ToolError } from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { data, pwd, startTask, useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

/** Asks for a task until it is completed. */
async function completed(tool: ReturnType<typeof newSession>, task_id: string) {
  for (;;) {
    const answer = await tool.taskOutput.execute({ task_id });
    if (answer.details.status !== 'running') return answer;
    await sleep(50);
  }
}

test('Scenario: Background command returns immediately', async () => {
  const begun = performance.now();
  const answer = await newSession().execute({ command: 'sleep 60', run_in_background: true });
  expect(performance.now() - begun).toBeLessThan(10_000);
  const id = answer.structured?.task_id;
  expect(id).toMatch(/^task_[0-9a-f]{8}$/);
  expect(textOf(answer)).toContain(`task_id: ${id}`);
  expect(answer.structured).toMatchObject({ status: 'running', exit_code: null, stdout: '' });
});

test('Scenario: Background task limit', async () => {
  const tool = newSession();
  const sleeper = longSleep(302);
  const starts = Array.from({ length: 10 }, () => startTask(tool, sleeper));
  const ids = await Promise.all(starts);
  expect(new Set(ids).size).toBe(10);
  const failure = await failureOf(startTask(tool, sleeper));
  expect(failure).toBeInstanceOf(ToolError);
  expect(failure).toMatchObject({ kind: 'jobLimit' });
  expect(String(failure)).toContain('the maximum of 10 concurrent tasks has been reached');
  expect(await data(tool, 'echo fine')).toMatchObject({ stdout: 'fine\n' });
  await tool.dispose();
  expect(sleeping(302)).toEqual([]);
});

test('the limit is of tasks that run, also of those about to', async () => {
  const tool = newSession({ maxRunningTasks: 2 });
  const starts = ['true', 'true', 'true'].map((command) => startTask(tool, command));
  const settled = await Promise.allSettled(starts);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  // Those have no id yet that could be named.
  expect(settled[2]).toMatchObject({
    reason: { message: expect.stringContaining('has been reached. The command was not run.') },
  });
  // They have ended, and nobody has read their ends.
  await eventually(async () => startTask(tool, 'true'));
});

test('B6: a running task that has printed nothing says that it has not yet', async () => {
  const tool = newSession();
  const id = await startTask(tool, longSleep(303));
  const answer = await tool.taskOutput.execute({ task_id: id });
  expect(textOf(answer)).toBe(`task_id: ${id}\nstatus: running\n\n(no output yet)`);
});

test('Scenario: Background task cwd tracking', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'cd /tmp; pwd');
  expect((await completed(tool, id)).structured).toMatchObject({ stdout: '/tmp\n' });
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

test('a command in the background starts where the session is', async () => {
  const tool = newSession();
  await data(tool, 'cd /usr');
  const id = await startTask(tool, 'pwd');
  expect((await completed(tool, id)).structured).toMatchObject({ stdout: '/usr\n' });
});

test('Scenario: Task still running', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'echo out; echo err >&2; sleep 60');
  const answer = await eventually(async () => {
    const now = await tool.taskOutput.execute({ task_id: id });
    expect(now.structured).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
    return now;
  });
  expect(answer.structured).toMatchObject({ task_id: id, status: 'running', exit_code: null });
  expect(textOf(answer)).toBe(`task_id: ${id}\nstatus: running\n\nout\n\nstderr:\nerr`);
});

test('Scenario: Task completed', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'echo out; sleep .3; echo err >&2; exit 3');
  const answer = await completed(tool, id);
  expect(answer.structured).toMatchObject({
    status: 'completed',
    stdout: 'out\n',
    stderr: 'err\n',
    exit_code: 3,
    timed_out: false,
  });
  expect(answer.isError).toBeUndefined();
  expect(textOf(answer)).toContain('status: completed');
  expect(textOf(answer)).toContain('Command exited with code 3');
});

test('Scenario: Task completed cleanup', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'true');
  await completed(tool, id);
  const again = await tool.taskOutput.execute({ task_id: id });
  expect(again.isError).toBe(true);
  expect(textOf(again)).toContain(`Task not found: ${id}`);
});

test('of two calls that read a completed task at once, one gets the output', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'echo once');
  await sleep(500);
  const ask = () => tool.taskOutput.execute({ task_id: id });
  const answers = await Promise.all([ask(), ask()]);
  expect(answers.filter((answer) => textOf(answer).includes('\nonce'))).toHaveLength(1);
  // At a far side the second call can come after the first one's answer.
  const isFar = process.env.FORKLINE_TEST_FAR === '1';
  for (const answer of answers) {
    if (isFar && answer.isError) expect(textOf(answer)).toContain('Task not found');
    else expect(answer.details.status).toBe('completed');
  }
  expect(textOf(await ask())).toContain('Task not found');
});

test('Scenario: Unknown task ID', async () => {
  const answer = await newSession().taskOutput.execute({ task_id: 'task_none' });
  expect(answer.isError).toBe(true);
  expect(textOf(answer)).toMatch(/^Task not found: task_none\. There are no tasks\./);
});

test('L7: of many tasks the newest are named, and a count of the others', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `task_${index}`);
  const text = textOf(unknownTaskResult('task_none', ids));
  expect(text).toMatch(/Known tasks: 980 older, task_980, (?:task_\d+, )+task_999\./);
});

test.each([
  ['', '""'],
  ['task\nstatus: completed', String.raw`"task\nstatus: completed"`],
  ['x'.repeat(1_000_000), `"${'x'.repeat(79)}…`],
])('an id that cannot be one is told in short, on one line', async (task_id, shown) => {
  const answer = await newSession().taskOutput.execute({ task_id });
  expect(answer.isError).toBe(true);
  expect(textOf(answer)).toMatch(/^[^\n]{1,200}$/);
  expect(textOf(answer)).toContain(`Task not found: ${shown}. There are no tasks.`);
});

test('a task has no time limit of its own, and takes the one that is asked for', async () => {
  const tool = newSession({ timeoutMs: 100 });
  const free = await startTask(tool, 'sleep .5; echo done');
  expect((await completed(tool, free)).structured).toMatchObject({ stdout: 'done\n' });
  const { task_id } = await data(tool, 'echo a; sleep 60', {
    run_in_background: true,
    timeout: 200,
  });
  const limited = await completed(tool, String(task_id));
  expect(limited.structured).toMatchObject({ stdout: 'a\n', timed_out: true, exit_code: null });
});

test('the output of a task is bounded while it runs and counted to the end', async () => {
  const tool = newSession({ maxCharacters: 10 });
  const id = await startTask(tool, 'yes é | head -n 100000; sleep 60');
  await eventually(async () => {
    const answer = await tool.taskOutput.execute({ task_id: id });
    expect(answer.structured?.stdout_characters).toBe(200_000);
    expect(answer.structured?.stdout).toBe(
      'é\né\né\né\né\n[stdout truncated: it has 200,000 characters, of which the first 10 are shown]',
    );
  });
});

test('of ended tasks that were never asked for, the oldest are forgotten', async () => {
  const tool = newSession({ maxEndedTasks: 2 });
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    ids.push(await startTask(tool, `echo ${name}`));
    await sleep(300);
  }
  const answers = await Promise.all(ids.map((task_id) => tool.taskOutput.execute({ task_id })));
  expect(answers.map(({ details }) => details.status)).toEqual([
    undefined,
    'completed',
    'completed',
  ]);
});

test('a task that cannot be started is an error, and none is left', async () => {
  const tool = newSession({ shell: ['/no/such/shell'] });
  const failure = await failureOf(startTask(tool, 'true'));
  expect(failure).toMatchObject({ kind: 'launch' });
  const answer = await tool.taskOutput.execute({ task_id: 'x' });
  expect(textOf(answer)).toContain('There are no tasks.');
});

test('a command that is about to be a task when the tool is disposed of is cancelled', async () => {
  const tool = newSession();
  // Input has been checked before, so that what is first is the start.
  await data(tool, 'true');
  const sleeper = longSleep(304);
  const starts = Array.from({ length: 10 }, () => startTask(tool, sleeper));
  const settled = Promise.allSettled(starts);
  await new Promise(setImmediate);
  await tool.dispose();
  for (const start of await settled) {
    // Of some the answer was first.
    if (start.status === 'fulfilled') continue;
    expect(start.reason).toMatchObject({ name: 'ToolAbortError', message: 'Command cancelled' });
  }
  expect(sleeping(304)).toEqual([]);
});

test('disposing of the tool ends its tasks with all they started', async () => {
  const tool = newSession();
  await startTask(tool, `${longSleep(303)} & setsid ${longSleep(303)} & wait`);
  await eventually(() => expect(sleeping(303)).toHaveLength(2));
  await tool.dispose();
  expect(sleeping(303)).toEqual([]);
  const failure = await failureOf(tool.taskOutput.execute({ task_id: 'x' }));
  expect(failure).toMatchObject({ kind: 'disposed' });
});
