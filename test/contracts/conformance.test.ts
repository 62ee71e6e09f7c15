import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  type BackgroundProcess,
  type BashTool,
  CONTRACT_NAMES,
  type ContractName,
  createBashTool,
  ToolAbortError,
  ToolError,
  type ToolResult,
} from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

/** How a tool of each contract is made, with a timeout of so many seconds for its calls. */
const makers: { readonly [Name in ContractName]: (seconds: number) => BashTool } = {
  workspace: (seconds) =>
    createBashTool({ ...common('workspace'), timeout: { default: seconds, min: 0.1 } }),
  modes: (seconds) => createBashTool({ ...common('modes'), timeouts: { default: seconds } }),
  session: (seconds) => createBashTool({ ...common('session'), timeoutMs: seconds * 1000 }),
  plain: (seconds) => createBashTool({ ...common('plain'), timeout: seconds }),
};

function common<Name extends ContractName>(contract: Name) {
  return { contract, cwd: folder.path, graceMs: 500 };
}

/** What a call has come to, whether its contract has an answer for that or throws. */
async function endOf(
  call: Promise<ToolResult<unknown>>,
): Promise<{ text: string; error: unknown }> {
  try {
    return { text: textOf(await call), error: undefined };
  } catch (error) {
    return { text: error instanceof Error ? error.message : '', error };
  }
}

/** The processes that an answer says still run. */
function backgroundOf({ details }: ToolResult<unknown>): readonly BackgroundProcess[] {
  return (details as { background?: readonly BackgroundProcess[] }).background ?? [];
}

describe.each(CONTRACT_NAMES)('a tool of the contract %s', (contract) => {
  const makeTool = (seconds = 30) => keep(makers[contract](seconds));

  test('gives a command its output back', async () => {
    const answer = await makeTool().execute({ command: 'echo one; echo two >&2' });
    expect(textOf(answer)).toMatch(/one.*two/s);
    expect(answer.isError).toBeUndefined();
  });

  test.each(['true', 'echo', "printf ' \\n\\n'"])(
    'B6: never answers with a text that is empty or blank: %s',
    async (command) => {
      const text = textOf(await makeTool().execute({ command }));
      expect(text.trim()).not.toBe('');
      if (contract !== 'plain') expect(text).toMatch(/^\(no output\)/);
    },
  );

  test('ends a command that is cancelled, with all that it started', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const call = makeTool().execute(
      { command: `echo before; ${longSleep(71)} & setsid ${longSleep(71)} & ${longSleep(71)}` },
      { signal },
    );
    const ended = endOf(call);
    await eventually(() => expect(sleeping(71)).toHaveLength(3));
    controller.abort();
    const { text, error } = await ended;
    expect(error).toBeInstanceOf(ToolAbortError);
    expect(text).toContain('before');
    expect(sleeping(71)).toEqual([]);
  });

  test('starts nothing for a call that is cancelled before it begins', async () => {
    const file = folder.file(`${contract}-cancelled`);
    const call = makeTool().execute({ command: `touch ${file}` }, { signal: AbortSignal.abort() });
    expect(await failureOf(call)).toBeInstanceOf(ToolAbortError);
    expect(existsSync(file)).toBe(false);
  });

  test('ends whatever runs when it is disposed of, and refuses what comes later', async () => {
    const tool = makeTool();
    const running = failureOf(tool.execute({ command: `${longSleep(72)}; true` }));
    await eventually(() => expect(sleeping(72)).toHaveLength(1));
    await tool.dispose();
    expect(sleeping(72)).toEqual([]);
    expect(await running).toBeInstanceOf(ToolAbortError);
    const later = await failureOf(tool.execute({ command: 'true' }));
    expect(later).toBeInstanceOf(ToolError);
    expect(later).toMatchObject({ kind: 'disposed' });
    await tool.dispose();
  });

  test('names what a command leaves running, and ends it when it is disposed of', async () => {
    const tool = makeTool();
    const answer = await tool.execute({ command: `${longSleep(73)} >/dev/null 2>&1 & sleep 0.2` });
    expect(backgroundOf(answer).map(({ command }) => command)).toEqual([longSleep(73)]);
    // B15: the model is told of it, too.
    expect(textOf(answer)).toMatch(/Still running in the background: \d+ .*kill -9 -- -\d+/s);
    expect(sleeping(73)).toEqual(backgroundOf(answer).map(({ pid }) => pid));
    await tool.dispose();
    expect(sleeping(73)).toEqual([]);
  });

  test('tells a listener all output in order, and nothing after the answer', async () => {
    let output = '';
    let updates = 0;
    const call = {
      onOutput: ({ text }: { readonly text: string }) => {
        output += text;
      },
      onUpdate: () => {
        updates += 1;
      },
    };
    const command = 'for i in 1 2 3; do echo $i; sleep 0.1; done';
    await makeTool().execute({ command }, call);
    const before = { output, updates };
    expect(output).toBe('1\n2\n3\n');
    expect(updates).toBeGreaterThan(0);
    await sleep(150);
    expect({ output, updates }).toEqual(before);
  });

  test('answers although a listener throws', async () => {
    const warned: string[] = [];
    const onWarning = ({ message }: Error): number => warned.push(message);
    process.on('warning', onWarning);
    const onOutput = (): never => {
      throw new Error('display gone');
    };
    const answer = await makeTool().execute({ command: 'echo a; sleep 0.2; echo b' }, { onOutput });
    await eventually(() => expect(warned).toHaveLength(1));
    process.off('warning', onWarning);
    expect(textOf(answer)).toMatch(/a.*b/s);
  });

  test('B11: ends a command whose time is up, and says so with the output so far', async () => {
    const { text } = await endOf(
      makeTool(1).execute({ command: `trap '' TERM; echo early; ${longSleep(74)}` }),
    );
    expect(text).toContain('early');
    expect(text).toMatch(/timed out after 1 ?s/);
    // B11: and what can be done about it.
    expect(text).toMatch(/[Ff]or (?:more time|what takes longer)/);
    expect(sleeping(74)).toEqual([]);
  });

  test('B17: takes a description beside the command, and tells it with the updates', async () => {
    const labels = new Set<string | undefined>();
    const onUpdate = ({ label }: { readonly label?: string }) => labels.add(label);
    const input = { command: 'echo one; sleep 0.2', description: 'Says one' };
    expect(textOf(await makeTool().execute(input, { onUpdate }))).toContain('one');
    expect([...labels]).toEqual(['Says one']);
  });

  test('B18: takes null for a field that need not be there', async () => {
    const input = { command: 'echo one', timeout: null, mode: null, env: null, cwd: null };
    const more = { pty: null, async: null, run_in_background: null };
    expect(textOf(await makeTool().execute({ ...input, ...more }))).toContain('one');
  });

  test('B19: refuses a command with half of a character, which would become another one', async () => {
    const { text } = await endOf(makeTool().execute({ command: 'echo \ud800' }));
    expect(text).toContain('command: expected text without lone surrogates, got one at index 5');
  });

  test('B16: says the same of a directory that is not there', async () => {
    const cwd = folder.file('never-was');
    const tool = keep(createBashTool({ ...common(contract), cwd }));
    const { text, error } = await endOf(tool.execute({ command: 'true' }));
    const message = `Working directory does not exist: ${cwd}`;
    if (contract === 'plain') expect(JSON.parse(text)).toEqual({ error: message });
    else expect(error).toMatchObject({ kind: 'directory', message });
  });

  test('refuses input that is wrong, naming the field', async () => {
    for (const [input, field] of [
      [{}, 'command'],
      [{ command: 5 }, 'command'],
      [{ command: ' ' }, 'command'],
      [{ command: 'true', nope: 1 }, 'nope'],
      [undefined, 'input'],
    ] as const) {
      expect((await endOf(makeTool().execute(input))).text).toContain(`${field}: `);
    }
  });

  test('C4: refuses what is wrong with a call, naming it', async () => {
    const execute = makeTool().execute as (input: unknown, call: unknown) => Promise<unknown>;
    for (const [call, name] of [
      [null, 'call'],
      [5, 'call'],
      [{ signal: 'soon' }, 'signal'],
      [{ onUpdate: 5 }, 'onUpdate'],
      [{ onOutput: {} }, 'onOutput'],
    ] as const) {
      const error = await failureOf(execute({ command: 'true' }, call));
      expect(error).toBeInstanceOf(ToolError);
      expect(error).toMatchObject({
        kind: 'input',
        message: expect.stringMatching(new RegExp(`^${name}: expected `)),
      });
    }
  });
});
