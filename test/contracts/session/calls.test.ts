import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { expect, test, vi } from 'vitest';
import {
  createBashTool,
  type SessionOptions,
  ToolAbortError,
  ToolError,
} from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { data, startTask, useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

test('the tool describes itself for a model API', () => {
  const tool = newSession();
  expect(tool).toMatchObject({ name: 'bash', strict: true, concurrency: 'shared' });
  expect(tool.inputSchema).toEqual({
    type: 'object',
    properties: {
      command: { type: 'string', description: expect.any(String) },
      timeout: { type: 'integer', minimum: 1, description: expect.stringContaining('120000') },
      run_in_background: { type: 'boolean', description: expect.any(String) },
      stdin: { type: 'boolean', description: expect.any(String) },
      pty: { type: 'boolean', description: expect.any(String) },
    },
    required: ['command'],
    additionalProperties: false,
  });
  const { taskOutput, writeTask, killTask, listTasks } = tool;
  expect(tool.companions).toEqual([taskOutput, writeTask, killTask, listTasks]);
  expect(tool.taskOutput).toMatchObject({ name: 'task_output', strict: true });
  for (const word of ['600000', '30,000', 'run_in_background', 'task_output', folder.path]) {
    expect(tool.description).toContain(word);
  }
});

test.each([
  [{}, 'command: expected a string, got nothing'],
  [{ command: ' ' }, 'command: expected a shell command, got " "'],
  [{ command: 'a\0b' }, 'command: expected text without NUL, got one at index 1'],
  [{ command: 'true', timeout: '5' }, 'timeout: expected an integer, got "5"'],
  [{ command: 'true', timeout: 1.5 }, 'timeout: expected an integer, got 1.5'],
  [{ command: 'true', timeout: 0 }, 'timeout: expected at least 1, got 0'],
  [{ command: 'true', timeout: Number.NaN }, 'timeout: expected an integer, got NaN'],
  [{ command: 'true', run_in_background: 1 }, 'run_in_background: expected a boolean, got 1'],
  [{ command: 'true', cwd: '/' }, 'cwd: not known here'],
])('%j is no valid input', async (input, message) => {
  const failure = await failureOf(newSession().execute(input));
  expect(failure).toBeInstanceOf(ToolError);
  expect(failure).toMatchObject({ kind: 'input', message: expect.stringContaining(message) });
});

test.each([
  [{}, 'task_id: expected a string, got nothing'],
  [{ task_id: 1 }, 'task_id: expected a string, got 1'],
  [{ task_id: 'x', wait: true }, 'wait: not known here'],
])('%j is no valid input of task_output', async (input, message) => {
  const failure = await failureOf(newSession().taskOutput.execute(input));
  expect(failure).toMatchObject({ kind: 'input', message: expect.stringContaining(message) });
});

test.each<[Partial<SessionOptions>, string]>([
  [{ cwd: '' }, 'cwd: expected a path: a string that is not empty and has no NUL, got ""'],
  [
    { cwd: '/a\0b' },
    'cwd: expected a path: a string that is not empty and has no NUL, got "/a\\u0000b"',
  ],
  [{ shell: [] }, 'shell: expected an array of at least one absolute path, got []'],
  [{ shell: ['bash'] }, 'shell: expected absolute paths, got "bash"'],
  // As from a caller without a type checker.
  [JSON.parse('{"scrub":"A*"}'), 'scrub: expected an array of name patterns, got "A*"'],
  [JSON.parse('{"scrub":[1]}'), 'scrub: expected an array of name patterns, got [1]'],
  [{ timeoutMs: 0 }, 'timeoutMs: expected a whole number from 1, got 0'],
  [{ maxTimeoutMs: 1.5 }, 'maxTimeoutMs: expected a whole number from 1, got 1.5'],
  [{ maxCharacters: -1 }, 'maxCharacters: expected a whole number from 1, got -1'],
  [{ maxCharacters: 1e9 }, 'maxCharacters: expected at most 67108864, got 1000000000'],
  [{ maxRunningTasks: 0 }, 'maxRunningTasks: expected a whole number from 1, got 0'],
  [{ maxEndedTasks: Number.NaN }, 'maxEndedTasks: expected a whole number from 1, got NaN'],
  [JSON.parse('{"persistent":1}'), 'persistent: expected true or false, got 1'],
])('%j is no valid option', (options, message) => {
  expect(() => createBashTool({ contract: 'session', cwd: '/', ...options })).toThrow(message);
});

test('every structured answer is as the output schemas say', async () => {
  const tool = newSession();
  const ajv = new Ajv();
  const answers: unknown[] = [];
  for (const command of ['echo a', 'echo b >&2; exit 3', 'kill -9 $$', 'sleep 60 & true']) {
    answers.push(await data(tool, command));
  }
  answers.push(await data(tool, 'sleep 60', { timeout: 100 }));
  const go = folder.file('go on');
  const waiting = `until [ -e '${go}' ]; do sleep 0.05; done`;
  const background = await data(tool, waiting, { run_in_background: true });
  answers.push(background);
  const conforms = ajv.compile(tool.outputSchema ?? false);
  for (const answer of answers) expect(conforms(answer), JSON.stringify(answer)).toBe(true);

  const ask = { task_id: background.task_id };
  const taskConforms = ajv.compile(tool.taskOutput.outputSchema ?? false);
  const answerNow = async () => (await tool.taskOutput.execute(ask)).structured;
  const running = await answerNow();
  writeFileSync(go, '');
  const ended = await eventually(async () => {
    const answer = await answerNow();
    expect(answer?.status).not.toBe('running');
    return answer;
  });
  expect([running?.status, ended?.status]).toEqual(['running', 'completed']);
  for (const answer of [running, ended]) {
    expect(taskConforms(answer), JSON.stringify(answer)).toBe(true);
  }
});

test('notices beside the streams are in the structured answer, too', async () => {
  const tool = newSession();
  const left = await data(tool, `${longSleep(306)} &`, { timeout: 900_000 });
  expect(left.notices).toEqual([
    expect.stringContaining('Timeout clamped to 600000 ms'),
    expect.stringMatching(
      /^Still running in the background: \d+ \(sleep 306.*To stop: kill -9 -- -/,
    ),
  ]);
  const started = await data(tool, 'true', { timeout: 900_000, run_in_background: true });
  expect(started.notices).toEqual([expect.stringContaining('Timeout clamped')]);
  expect(await data(tool, 'true')).not.toHaveProperty('notices');

  const task = await data(tool, `${longSleep(306)} &`, { run_in_background: true });
  await eventually(async () => {
    const { structured } = await tool.taskOutput.execute({ task_id: task.task_id });
    expect(structured?.notices).toEqual([expect.stringContaining('Still running')]);
  });
});

test('a call that is cancelled is rejected with the output so far, and its processes are gone', async () => {
  const stop = new AbortController();
  const call = newSession().execute(
    { command: `echo before; echo wrong >&2; ${longSleep(305)} & ${longSleep(305)}` },
    { signal: stop.signal, onOutput: () => stop.abort() },
  );
  const failure = await failureOf(call);
  expect(failure).toBeInstanceOf(ToolAbortError);
  expect(String(failure)).toMatch(/before[\s\S]*Command cancelled$/);
  expect(sleeping(305)).toEqual([]);
});

test('a call that is cancelled before its start runs nothing', async () => {
  const stop = AbortSignal.abort();
  for (const run_in_background of [false, true]) {
    const call = newSession().execute({ command: 'true', run_in_background }, { signal: stop });
    expect(await failureOf(call)).toBeInstanceOf(ToolAbortError);
  }
});

test('a task outlives the signal of the call that started it', async () => {
  const tool = newSession();
  const stop = new AbortController();
  const { structured } = await tool.execute(
    { command: 'sleep .3; echo done', run_in_background: true },
    { signal: stop.signal },
  );
  stop.abort();
  await eventually(async () => {
    const answer = await tool.taskOutput.execute({ task_id: structured?.task_id });
    expect(answer.structured).toMatchObject({ status: 'completed', stdout: 'done\n' });
  });
});

test('a listener that throws harms no call', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const answer = await newSession().execute(
    { command: 'echo a; sleep .2; echo b' },
    {
      onOutput() {
        throw new Error('broken display');
      },
    },
  );
  expect(answer.structured?.stdout).toBe('a\nb\n');
  expect(warned).toHaveBeenCalledTimes(1);
  warned.mockRestore();
});

test('no listener is called after the answer', async () => {
  const heard: string[] = [];
  const onOutput = ({ text }: { text: string }) => void heard.push(text);
  const onUpdate = () => void heard.push('update');
  await newSession().execute({ command: '(sleep .6; echo late) & echo a' }, { onOutput, onUpdate });
  const before = heard.length;
  await sleep(900);
  expect(heard).toHaveLength(before);
});

test('calls run side by side', async () => {
  const tool = newSession();
  const begun = performance.now();
  await Promise.all(Array.from({ length: 5 }, () => data(tool, 'sleep 2')));
  expect(performance.now() - begun).toBeLessThan(8000);
});

test('disposing of the tool cancels what runs, and refuses what comes', async () => {
  const tool = newSession();
  const running = failureOf(tool.execute({ command: `${longSleep(306)}` }));
  await startTask(tool, longSleep(306));
  await eventually(() => expect(sleeping(306)).toHaveLength(2));
  await tool.dispose();
  expect(await running).toBeInstanceOf(ToolAbortError);
  expect(sleeping(306)).toEqual([]);
  expect(await failureOf(tool.execute({ command: 'true' }))).toMatchObject({ kind: 'disposed' });
});

test('processes that a command leaves are named, go on, and end with the tool', async () => {
  const tool = newSession();
  const answer = await tool.execute({ command: `${longSleep(307)} & echo done` });
  expect(answer.structured).toMatchObject({ stdout: 'done\n', exit_code: 0 });
  expect(textOf(answer)).toContain(`Still running in the background: `);
  expect(answer.details.background).toMatchObject([{ command: longSleep(307) }]);
  expect(sleeping(307)).toHaveLength(1);
  await tool.dispose();
  expect(sleeping(307)).toEqual([]);
});
