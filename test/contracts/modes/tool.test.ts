import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createBashTool,
  InputError,
  type ModesOptions,
  type OutputChunk,
} from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { testOfThisProcess } from '../../support/far.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { useModesTools } from '../../support/modes.js';
import { eventually, lives } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = useModesTools(folder);

test('B6: a command that prints nothing says so, in a text that is not empty', async () => {
  expect((await makeTool().execute({ command: 'true' })).content).toEqual([
    { type: 'text', text: '(no output)' },
  ]);
  expect(textOf(await makeTool().execute({ command: 'false' }))).toBe(
    '[command failed: exit code 1]\n',
  );
});

test('calls run side by side', async () => {
  const tool = makeTool();
  expect(tool.concurrency).toBe('shared');
  // Each waits for a file that the other one makes.
  const wait = (own: string, other: string) =>
    tool.execute({ command: `touch ${own}; until [ -e ${other} ]; do sleep 0.01; done` });
  const answers = await Promise.all([wait('one', 'two'), wait('two', 'one')]);
  expect(answers.map(textOf)).toEqual(['(no output)', '(no output)']);
});

test('a process that goes on is named under the output, and how to stop it', async () => {
  const pause = longSleep(320);
  const result = await makeTool().execute({ command: `${pause} & printf done` });
  expect(textOf(result)).toMatch(
    /^done\n\[Still running in the background: \d+ \(sleep 320\.\d+\)\. To stop: kill -9 -- -\d+\]$/,
  );
  expect(result).not.toHaveProperty('isError');
  const [pid = 0] = sleeping(320);
  expect(result.details).toMatchObject({ background: [{ pid, command: pause }] });
  expect(lives(pid)).toBe(true);
});

test('processes that foreground commands left end when the tool is disposed of', async () => {
  const tool = makeTool();
  await tool.execute({ command: `setsid ${longSleep(321)} >/dev/null 2>&1 &` });
  await eventually(() => expect(sleeping(321)).toHaveLength(1));
  await tool.dispose();
  expect(sleeping(321)).toEqual([]);
  const late = await failureOf(tool.execute({ command: 'true' }));
  expect(late).toMatchObject({ name: 'ToolError', kind: 'disposed' });
});

test('a call that runs when the tool is disposed of is cancelled, with its output so far', async () => {
  const tool = makeTool();
  const call = failureOf(tool.execute({ command: `echo part; ${longSleep(322)}` }));
  await eventually(() => expect(sleeping(322)).toHaveLength(1));
  await tool.dispose();
  expect(await call).toMatchObject({
    name: 'ToolAbortError',
    message: '[command cancelled]\npart\n',
    details: { mode: 'default', outcome: { kind: 'cancelled' } },
  });
});

test.each(['default', 'background'])(
  'a call in %s mode that has not begun when the tool is disposed of is told so',
  async (mode) => {
    const tool = makeTool();
    const call = failureOf(tool.execute({ command: 'touch ran', mode }));
    await tool.dispose();
    expect(await call).toMatchObject({ name: 'ToolAbortError', message: 'Command cancelled' });
    expect(textOf(await makeTool().execute({ command: 'ls' }))).not.toContain('ran');
  },
);

test.each(['default', 'background'])(
  'a call in %s mode that is cancelled before it begins runs nothing',
  async (mode) => {
    const signal = AbortSignal.abort();
    const call = makeTool().execute({ command: 'touch ran', mode }, { signal });
    expect(await failureOf(call)).toMatchObject({ name: 'ToolAbortError' });
    expect(textOf(await makeTool().execute({ command: 'ls' }))).not.toContain('ran');
  },
);

test('updates show the last output so far, and a listener gets all of it', async () => {
  const updates: string[] = [];
  const chunks: OutputChunk[] = [];
  const answer = await makeTool().execute(
    { command: 'for i in 1 2 3; do echo $i; sleep 0.1; done' },
    {
      onUpdate: (update) => updates.push(textOf(update)),
      onOutput: (chunk) => chunks.push(chunk),
    },
  );
  expect(updates.length).toBeGreaterThan(1);
  expect(updates.every((text) => '1\n2\n3\n'.startsWith(text))).toBe(true);
  expect(chunks.map(({ text }) => text).join('')).toBe('1\n2\n3\n');
  expect(textOf(answer)).toBe('1\n2\n3\n');
});

test.each([
  [{}, 'command: expected a string, got nothing'],
  [{ command: ' ' }, 'command: expected a shell command, got " "'],
  [{ command: 'a\0b' }, 'command: expected text without NUL, got one at index 1'],
  [
    { command: 'true', mode: 'fast' },
    'mode: expected "default", "slow" or "background", got "fast"',
  ],
  [{ command: 'true', timeout: 5 }, 'timeout: not known here, expected one of command, mode'],
])('%j is refused', async (input, message) => {
  const error = await failureOf(makeTool().execute(input));
  expect(error).toMatchObject({ name: 'ToolError', kind: 'input', message });
});

test.each(['default', 'background'])(
  'in %s mode, a command that is too long is refused, and a file recommended',
  async (mode) => {
    const error = await failureOf(makeTool().execute({ command: ` ${'é'.repeat(120_000)}`, mode }));
    expect(error).toMatchObject({
      kind: 'input',
      message:
        'command: expected at most 240000 bytes, got 240001; ' +
        'write a long script to a file, then run the file',
    });
  },
);

test('a command as long as may be runs', async () => {
  const command = `: ${'x'.repeat(239_990)}; echo hi`.slice(0, 239_989);
  const padded = `${command.slice(0, -9)}; echo hi`.padEnd(240_000);
  expect(textOf(await makeTool().execute({ command: padded }))).toBe('hi\n');
});

testOfThisProcess(
  'the directory may be a function, asked at each call and for the description',
  async () => {
    let cwd = folder.path;
    const tool = makeTool({ cwd: () => cwd });
    expect(textOf(await tool.execute({ command: 'pwd' }))).toBe(`${folder.path}\n`);
    cwd = join(folder.path, 'sub');
    mkdirSync(cwd);
    expect(tool.description.endsWith(`<pwd>${cwd}</pwd>`)).toBe(true);
    expect(textOf(await tool.execute({ command: 'pwd' }))).toBe(`${cwd}\n`);
    cwd = '';
    const error = await failureOf(tool.execute({ command: 'pwd' }));
    expect(error).toMatchObject({
      kind: 'input',
      message: 'cwd: expected a path or a function that returns one, got ""',
    });
  },
);

test.each<[Partial<ModesOptions>, string]>([
  [{ cwd: '' }, 'cwd: expected a path or a function that returns one, got ""'],
  [{ cwd: '/\0' }, 'cwd: expected a path or a function that returns one, got "/\\u0000"'],
  [{ timeouts: { slow: 0 } }, 'timeouts.slow: expected a number from 0.001, got 0'],
  [
    { timeouts: { background: Number.POSITIVE_INFINITY } },
    'timeouts.background: expected a number',
  ],
  [{ maxOutputBytes: 0.5 }, 'maxOutputBytes: expected a whole number from 1 to 268435456, got 0.5'],
  [
    { maxOutputBytes: 100, snipBytes: 51 },
    'snipBytes: expected at most half of maxOutputBytes (50), got 51',
  ],
  [{ maxBackgroundBytes: 0.5 }, 'maxBackgroundBytes: expected a whole number from 1, got 0.5'],
  [{ maxCommandBytes: 0 }, 'maxCommandBytes: expected a whole number from 1, got 0'],
  [{ graceMs: -1 }, 'graceMs: expected a number of milliseconds of 0 or more, got -1'],
])('the options %j are refused', (options, message) => {
  const make = () => createBashTool({ contract: 'modes', cwd: folder.path, ...options });
  expect(make).toThrow(InputError);
  expect(make).toThrow(message);
});

test('limits that are options are told to the model', () => {
  const { description, inputSchema } = makeTool({
    timeouts: { default: 60, slow: 90, background: 7200 },
    maxCommandBytes: 40_000,
  });
  expect(description).toContain('60 seconds');
  expect(description).toContain('90 seconds');
  expect(description).toContain('2 hours at most');
  expect(description).toContain('less than 10k tokens (40000 bytes)');
  expect(JSON.stringify(inputSchema)).toContain('default (1min timeout), slow (90s timeout)');
});
