import { rmdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createUrlRegistry,
  type TerminalUi,
  ToolAbortError,
  type WorkspaceOptions,
} from '../../../src/index.js';
import { FakeUi } from '../../support/console.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { failureOf } from '../../support/results.js';
import { answerTo, useWorkspaceTools } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = useWorkspaceTools(folder);

const never = () => new Promise<never>(() => {});

/** Parts of a runtime that never answer, each with a call that waits for it. */
const STUCK: [string, Partial<WorkspaceOptions>, Record<string, unknown>][] = [
  [
    'a resolver',
    { urls: createUrlRegistry({ skill: { resolve: never } }) },
    { command: 'cat skill://x' },
  ],
  ['a console', { ui: { openConsole: never } }, { command: 'echo x', pty: true }],
];

test.each(STUCK)('a call that waits for %s can be cancelled', async (_, options, input) => {
  const tool = makeTool(options);
  const signal = AbortSignal.timeout(200);
  const error = await failureOf(tool.execute(input, { signal }));
  expect(error).toBeInstanceOf(ToolAbortError);
  expect(error).toMatchObject({ message: 'Command cancelled' });
  expect(await answerTo(tool, { command: 'echo next' })).toContain('next');
});

test.each(STUCK)('a tool that waits for %s can be disposed of', async (_, options, input) => {
  const tool = makeTool(options);
  const failure = failureOf(tool.execute(input));
  const queued = failureOf(tool.execute({ command: 'echo x' }));
  await tool.job?.execute({ list: true });
  await tool.dispose();
  expect(await failure).toMatchObject({ name: 'ToolAbortError', message: 'Command cancelled' });
  expect(await queued).toMatchObject({ name: 'ToolAbortError' });
});

test('a console that does not open while the command may run is done without', async () => {
  const tool = makeTool({ ui: { openConsole: never }, timeout: { min: 0.2 } });
  const answer = await answerTo(tool, { command: 'echo piped', pty: true, timeout: 0.2 });
  expect(answer).toContain('piped\n');
  expect(answer).toContain('(pty): the console could not be opened (it took too long).');
});

test('a console that opens after its call has ended is closed', async () => {
  const late = new FakeUi();
  const stop = new AbortController();
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const ui: TerminalUi = {
    async openConsole(request, events) {
      stop.abort();
      await opened;
      return late.openConsole(request, events);
    },
  };
  const call = { signal: stop.signal };
  await failureOf(makeTool({ ui }).execute({ command: 'echo x', pty: true }, call));
  open();
  await expect.poll(() => late.closed).toBe(1);
});

test('an invalid overlay does not keep the command from running', async () => {
  const ui = { openConsole: () => ({}) } as unknown as TerminalUi;
  const answer = await answerTo(makeTool({ ui }), { command: 'echo piped', pty: true });
  expect(answer).toContain('piped\n');
  expect(answer).toContain('could not be opened (expected an overlay with draw() and close()).');
});

test('a directory that goes while the console opens is told as any other', async () => {
  const cwd = await mkdtemp(join(folder.path, 'gone-'));
  const fake = new FakeUi();
  const ui: TerminalUi = {
    openConsole(request, events) {
      rmdirSync(cwd);
      return fake.openConsole(request, events);
    },
  };
  const error = await failureOf(makeTool({ ui }).execute({ command: 'pwd', cwd, pty: true }));
  expect(error).toMatchObject({
    kind: 'directory',
    message: `Working directory does not exist: ${cwd}`,
  });
  expect(fake.closed).toBe(1);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('no list');
    },
    'no list',
  ],
  [
    'returns none',
    () => undefined as never,
    'interceptor.tools: expected an array of names, or an object with the abilities of each, got nothing',
  ],
])(
  'tools of the interceptor that %s let commands through, which is told once',
  async (_, tools, why) => {
    const warnings: string[] = [];
    const logger = { warn: (message: string) => void warnings.push(message) };
    const tool = makeTool({ interceptor: { enabled: true, tools }, logger });
    for (const command of ['cat /dev/null', 'cat /dev/null']) {
      expect(await answerTo(tool, { command })).toContain('(no output)');
    }
    expect(warnings).toEqual([`interceptor: commands are not checked: ${why}`]);
  },
);

test.each([undefined, null, {}])(
  'a client that gives %o in place of a terminal is a launch error',
  async (handle) => {
    const connection = { createTerminal: async () => handle as never };
    const tool = makeTool({ clientTerminal: { connection, sessionId: 's' } });
    expect(await failureOf(tool.execute({ command: 'true' }))).toMatchObject({
      kind: 'launch',
      message: expect.stringContaining('the client gave no terminal (expected a terminal with'),
    });
  },
);

test('a hundred calls with one signal make no warning, and it ends them all', async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on('warning', note);
  const controller = new AbortController();
  const { signal } = controller;
  const tool = makeTool();
  const calls = Array.from({ length: 100 }, () =>
    failureOf(tool.execute({ command: 'sleep 30' }, { signal })),
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  controller.abort();
  for (const error of await Promise.all(calls)) expect(error).toBeInstanceOf(ToolAbortError);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
