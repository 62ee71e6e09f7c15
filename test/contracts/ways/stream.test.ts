import { describe, expect, test } from 'vitest';
import {
  type BashTool,
  CONTRACT_NAMES,
  createBashTool,
  ToolAbortError,
  type ToolAnswer,
  type ToolProgress,
} from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

/** All that a call yields. */
async function collect(tool: BashTool, input: unknown) {
  const outputs: ToolProgress[] = [];
  const answers: ToolAnswer<unknown>[] = [];
  for await (const event of tool.stream(input)) {
    if (event.kind === 'output') outputs.push(event);
    else answers.push(event.answer);
  }
  return { outputs, answers };
}

describe.each(CONTRACT_NAMES)('stream() of a tool of the contract %s', (contract) => {
  const makeTool = () => keep(createBashTool({ contract, cwd: folder.path, graceMs: 500 }));

  test('yields the output as it comes, and the answer at the end', async () => {
    const { outputs, answers } = await collect(makeTool(), {
      command: 'for i in 1 2 3; do echo $i; sleep 0.1; done',
    });
    expect(outputs.length).toBeGreaterThan(1);
    expect(outputs.map(({ text }) => text).join('')).toBe('1\n2\n3\n');
    expect(outputs.at(-1)).toMatchObject({ tail: '1\n2\n3\n', droppedBytes: 0 });
    expect(answers).toMatchObject([{ isError: false, text: expect.stringMatching(/1.*2.*3/s) }]);
  });

  test('yields an answer that is an error for input that is wrong', async () => {
    const { outputs, answers } = await collect(makeTool(), { command: 5 });
    expect(outputs).toEqual([]);
    expect(answers).toMatchObject([
      { isError: true, text: expect.stringContaining('command: expected a string, got 5') },
    ]);
  });

  test('ends the command when the loop is left early: then nothing of it is there', async () => {
    for await (const event of makeTool().stream({ command: `echo on; ${longSleep(76)}; true` })) {
      expect(event).toMatchObject({ kind: 'output', text: 'on\n' });
      await eventually(() => expect(sleeping(76)).toHaveLength(1));
      break;
    }
    expect(sleeping(76)).toEqual([]);
  });

  test.each(['return', 'throw'] as const)('%s() ends a command that is silent', async (end) => {
    const events = makeTool().stream({ command: `${longSleep(77)}; true` });
    const first = events.next();
    await eventually(() => expect(sleeping(77)).toHaveLength(1));
    const left = end === 'return' ? events.return() : failureOf(events.throw(new Error('left')));
    expect(await first).toEqual({ done: true, value: undefined });
    await left;
    expect(sleeping(77)).toEqual([]);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test('throws when the caller aborts it', async () => {
    const controller = new AbortController();
    const events = makeTool().stream(
      { command: `${longSleep(78)}; true` },
      { signal: controller.signal },
    );
    const first = failureOf(events.next());
    await eventually(() => expect(sleeping(78)).toHaveLength(1));
    controller.abort(new Error('enough'));
    const error = await first;
    expect(error).toBeInstanceOf(ToolAbortError);
    expect(error).toMatchObject({ cause: { message: 'enough' } });
    expect(sleeping(78)).toEqual([]);
  });

  test('starts nothing before its first event is asked for', async () => {
    const events = makeTool().stream({ command: `${longSleep(79)}; true` });
    await events.return();
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(sleeping(79)).toEqual([]);
  });

  test('two calls at once have each their own output', async () => {
    const tool = makeTool();
    const [one, other] = await Promise.all([
      collect(tool, { command: 'echo one; sleep 0.1; echo one' }),
      collect(tool, { command: 'echo other; sleep 0.1; echo other' }),
    ]);
    expect(one.outputs.map(({ text }) => text).join('')).toBe('one\none\n');
    expect(other.outputs.map(({ text }) => text).join('')).toBe('other\nother\n');
  });
});

test('of output that is not taken the newest waits, and the size of the missing part is told', async () => {
  const tool = keep(createBashTool({ contract: 'workspace', cwd: folder.path }));
  const total = 4 * 1024 * 1024;
  const events = tool.stream({
    command: `echo begun; sleep 0.2; head -c ${total} /dev/zero | tr '\\0' x`,
  });
  await events.next();
  await eventually(async () =>
    expect((await events.next()).value).toMatchObject({ kind: 'answer' }),
  );
  const { outputs } = await collect(tool, { command: `head -c ${total} /dev/zero | tr '\\0' x` });
  const bytes = outputs.map(({ text, droppedBytes }) => text.length + droppedBytes);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(total);
  expect(Math.max(...outputs.map(({ text }) => text.length))).toBeLessThanOrEqual(256 * 1024);
});

test('a call whose signal is none is told so', async () => {
  const tool = keep(createBashTool({ contract: 'modes', cwd: folder.path }));
  const call = { signal: 'soon' } as unknown as { signal: AbortSignal };
  const { value } = await tool.stream({ command: 'true' }, call).next();
  expect(value).toMatchObject({
    answer: { isError: true, text: expect.stringContaining('signal: expected an AbortSignal') },
  });
});
