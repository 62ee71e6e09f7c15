import { describe, expect, test } from 'vitest';
import {
  CONTRACT_NAMES,
  createBashTool,
  ToolAbortError,
  ToolError,
  type ToolErrorKind,
} from '../../../src/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

describe.each(CONTRACT_NAMES)('answer() of a tool of the contract %s', (contract) => {
  const makeTool = (cwd = folder.path) => keep(createBashTool({ contract, cwd, graceMs: 500 }));

  test('says what execute() does, with its details', async () => {
    const answer = await makeTool().answer({ command: 'echo hello' });
    expect(answer).toMatchObject({ isError: false, text: expect.stringContaining('hello') });
    expect(answer.details).toMatchObject({ receipt: { outcome: { exitCode: 0 } } });
    expect(answer).not.toHaveProperty('error');
  });

  test('is an error where the contract says so, and never empty', async () => {
    const answer = await makeTool().answer({ command: 'exit 3' });
    expect(answer.text).not.toBe('');
    expect(answer.isError).toBe(contract === 'workspace' || contract === 'modes');
  });

  test.each([
    [{}, /^(\{"error":")?command: expected a string, got nothing/],
    [{ command: 'true', nope: 1 }, /nope: not known/],
    [undefined, /input: expected an object, got nothing/],
  ])('tells the model what is wrong with %j', async (input, text) => {
    const answer = await makeTool().answer(input);
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(text) });
  });

  test('tells the model of a directory that is not there, and of a tool that is gone', async () => {
    const kinds = async (tool: ReturnType<typeof makeTool>): Promise<ToolErrorKind | undefined> => {
      const { isError, error } = await tool.answer({ command: 'true' });
      expect(isError).toBe(true);
      return error instanceof ToolError ? error.kind : undefined;
    };
    const lost = makeTool(folder.file('never-was'));
    // What `plain` has an answer of its own for is no error that it throws.
    expect(await kinds(lost)).toBe(contract === 'plain' ? undefined : 'directory');
    await lost.dispose();
    expect(await kinds(lost)).toBe('disposed');
  });

  test('throws when it is aborted, and only then', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const call = failureOf(makeTool().answer({ command: `${longSleep(75)}; true` }, { signal }));
    await eventually(() => expect(sleeping(75)).toHaveLength(1));
    controller.abort();
    expect(await call).toBeInstanceOf(ToolAbortError);
    expect(sleeping(75)).toEqual([]);
  });
});

test('an answer has the data that the output schema describes', async () => {
  const tool = keep(createBashTool({ contract: 'plain', cwd: folder.path }));
  const { structured } = await tool.answer({ command: 'echo hi; exit 3' });
  expect(structured).toEqual({ stdout: 'hi\n', stderr: '', exitCode: 3 });
});

test('companions answer in the same way', async () => {
  const { killTask } = keep(createBashTool({ contract: 'session', cwd: folder.path }));
  const answer = await killTask.answer({ task_id: 5 });
  expect(answer).toMatchObject({ isError: true, text: 'task_id: expected a string, got 5' });
});
