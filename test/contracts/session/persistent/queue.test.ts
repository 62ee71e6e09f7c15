import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ToolAbortError } from '../../../../src/index.js';
import { longSleep, sleeping } from '../../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { eventually, openDescriptors } from '../../../support/processes.js';
import { failureOf } from '../../../support/results.js';
import { data, useSessionTools } from '../../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);
const newTool = (options: Parameters<typeof newSession>[0] = {}) =>
  newSession({ persistent: true, ...options });

async function messageOf(call: Promise<unknown>): Promise<string> {
  const error = await failureOf(call);
  return error instanceof Error ? error.message : '';
}

/** The files in the private directories of this process's shells. */
function pipesOf(pid: number): string[] {
  const home = join(tmpdir(), `forkline-${process.getuid?.()}`);
  const own = readdirSync(home).filter((name) => name.startsWith(`shell-${pid}-`));
  return own.flatMap((name) => readdirSync(join(home, name)));
}

describe('calls', () => {
  test('of one tool run one after the other, those of two side by side', async () => {
    const [one, other] = [newTool(), newTool()];
    expect(one.concurrency).toBe('exclusive');
    const first = data(one, 'sleep .2; x=1');
    const second = data(one, 'echo $x');
    expect(await data(other, 'echo x$x')).toMatchObject({ stdout: 'x\n' });
    expect(await second).toMatchObject({ stdout: '1\n' });
    await first;
  });

  test('that are cancelled while they wait are not run, and do no harm', async () => {
    const tool = newTool();
    const first = data(tool, 'x=1; sleep .2');
    const controller = new AbortController();
    const second = failureOf(tool.execute({ command: 'x=2' }, { signal: controller.signal }));
    controller.abort();
    expect(await second).toBeInstanceOf(ToolAbortError);
    await first;
    expect(await data(tool, 'echo $x')).toMatchObject({ stdout: '1\n' });
  });

  test.each([0, 1, 3, 10])('that are cancelled while their shell starts, %i ms on', async (ms) => {
    const tool = newTool();
    const controller = new AbortController();
    const call = failureOf(tool.execute({ command: longSleep(17) }, { signal: controller.signal }));
    if (ms > 0) await sleep(ms);
    controller.abort();
    expect(await call).toBeInstanceOf(ToolAbortError);
    expect(sleeping(17)).toEqual([]);
    expect(await data(tool, 'echo hi')).toMatchObject({ stdout: 'hi\n' });
  });

  test.each([0, 1, 3, 7, 10, 14, 20, 50])(
    'that are on their way at dispose(), %i ms on',
    async (ms) => {
      const tool = newTool();
      const calls = [longSleep(18), 'echo 2'].map((command) =>
        failureOf(tool.execute({ command })),
      );
      if (ms > 0) await sleep(ms);
      await tool.dispose();
      for (const error of await Promise.all(calls)) expect(error).toBeInstanceOf(ToolAbortError);
      expect(sleeping(18)).toEqual([]);
    },
  );

  test('a hundred in a row leave no descriptor, file or process', async () => {
    const tool = newTool();
    await tool.execute({ command: 'true' });
    await sleep(100);
    const before = openDescriptors().length;
    for (let call = 0; call < 100; call += 1) await tool.execute({ command: `echo ${call}; : &` });
    await eventually(() => expect(openDescriptors().length).toBeLessThanOrEqual(before));
    expect(await data(tool, 'wait; jobs >/dev/null; jobs')).toMatchObject({ stdout: '' });
    await eventually(() => expect(pipesOf(process.pid)).toEqual([]));
  }, 60_000);

  test('that are refused start nothing', async () => {
    const tool = newTool();
    expect(await messageOf(tool.execute({}))).toMatch(/^command: expected/);
    expect(await messageOf(tool.execute({ command: 'a\0b' }))).toMatch(/^command: .*NUL/);
    expect(await messageOf(tool.execute({ restart: true, run_in_background: true }))).toMatch(
      /^restart: /,
    );
    const other = newSession();
    expect(await messageOf(other.execute({ command: 'true', restart: true }))).toMatch(
      /^restart: /,
    );
  });
});
