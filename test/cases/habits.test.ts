import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createBashTool, run, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const contracts = ['workspace', 'modes', 'session', 'plain'] as const;

describe('H13: file: URLs as directories', () => {
  const url = () => pathToFileURL(`${folder.path}/`);

  test('H13: run() and spawn() accept one', async () => {
    expect(printed(await run('pwd; echo $PWD', { cwd: url() }))).toBe(
      `${folder.path}\n${folder.path}\n`,
    );
    const live = await spawn('pwd', { cwd: url() });
    expect(await live.result).toMatchObject({ output: { text: `${folder.path}\n` } });
  });

  test.each(contracts)('H13: %s accepts one', async (contract) => {
    await using tool = createBashTool({ contract, cwd: url() });
    expect(textOf(await tool.execute({ command: 'pwd' }))).toContain(folder.path);
  });

  test('H13: a function of modes may return one', async () => {
    await using tool = createBashTool({ contract: 'modes', cwd: url });
    expect(textOf(await tool.execute({ command: 'pwd' }))).toContain(folder.path);
  });

  test.each(['https://example.com/x', 'file:///a%2fb', 'file:///a%00b', 'file://host/x'])(
    'H13: %s names no directory',
    async (text) => {
      const cwd = new URL(text);
      const message = `cwd: expected a path or a file: URL, got ${JSON.stringify(text)}`;
      await expect(run('true', { cwd })).rejects.toThrow(message);
      expect(() => createBashTool({ contract: 'plain', cwd })).toThrow(message);
    },
  );
});

test.each(contracts)('H13: `await using` disposes of a tool of %s', async (contract) => {
  {
    await using tool = createBashTool({ contract, cwd: folder.path, graceMs: 100 });
    await tool.execute({ command: `${longSleep(351)} >/dev/null 2>&1 &` });
    expect(sleeping(351)).toHaveLength(1);
  }
  expect(sleeping(351)).toEqual([]);
});

test.each(contracts)('H13: %s says by `cause` why a call was aborted', async (contract) => {
  const reason = new Error('the user left');
  await using tool = createBashTool({ contract, cwd: folder.path, graceMs: 100 });
  const cancel = new AbortController();
  const running = tool.execute({ command: longSleep(352) }, { signal: cancel.signal });
  await eventually(() => expect(sleeping(352)).toHaveLength(1));
  cancel.abort(reason);
  expect(await failureOf(running)).toMatchObject({ name: 'ToolAbortError', cause: reason });
  const { signal } = cancel;
  const late = await failureOf(tool.execute({ command: 'true' }, { signal }));
  expect(late).toMatchObject({ name: 'ToolAbortError', cause: reason });
});

test('H13: a live process need not keep the host alive', async () => {
  const script = (more: string) => `
    import { spawn } from 'forkline';
    const live = await spawn(${JSON.stringify(longSleep(353))});
    live.unref();
    ${more}
    process.on('exit', () => console.log('left'));`;
  const host = async (more: string, timeout: number) => {
    const args = ['--input-type=module', '--eval', script(more)];
    const ended = promisify(execFile)(process.execPath, args, { timeout });
    return ended.then(
      ({ stdout }) => stdout,
      () => 'stayed',
    );
  };
  expect(await host('', 30_000)).toBe('left\n');
  await eventually(() => expect(sleeping(353)).toEqual([]));
  expect(await host("console.log(await live.signal('SIGCONT'));", 30_000)).toBe('true\nleft\n');
  expect(await host('live.ref();', 1000)).toBe('stayed');
  await eventually(() => expect(sleeping(353)).toEqual([]));
});
