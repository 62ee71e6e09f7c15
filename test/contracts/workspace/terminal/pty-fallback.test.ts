import { afterEach, expect, test, vi } from 'vitest';
import type { ToolResult } from '../../../../src/index.js';
import { FakeUi } from '../../../support/console.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { answerTo, textOf, useWorkspaceTools } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = useWorkspaceTools(folder);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test.each([
  ['there is no user interface', undefined, {}],
  ['FORKLINE_NO_PTY=1 is set', new FakeUi(), { FORKLINE_NO_PTY: '1' }],
  ['PI_NO_PTY=1 is set', new FakeUi(), { PI_NO_PTY: '1' }],
])(
  'without a terminal, since %s, the command runs on pipes, and that is said',
  async (why, ui, env) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const tool = makeTool(ui === undefined ? {} : { ui });
    const answer = await answerTo(tool, { command: 'test -t 1 || echo piped $TERM', pty: true });
    expect(answer).toBe(
      `piped dumb\n\nWall time: T seconds\nRun without a terminal (pty): ${why}.`,
    );
    expect(ui?.requests ?? []).toEqual([]);
    expect(await answerTo(tool, { command: 'echo x', pty: false })).not.toContain('pty');
  },
);

test('a console that cannot be opened is no reason not to run the command', async () => {
  const ui = {
    openConsole() {
      throw new Error('no room');
    },
  };
  const updates: string[] = [];
  const result = await makeTool({ ui }).execute(
    { command: 'test -t 1 || echo piped', pty: true },
    { onUpdate: (update) => updates.push(textOf(update as ToolResult<unknown>)) },
  );
  expect(textOf(result)).toContain('piped\n');
  expect(textOf(result)).toContain('(pty): the console could not be opened (no room).');
  expect(updates.at(-1)).toBe('piped\n');
});

test('an async command has a terminal of its own, and one on the user’s stays in the foreground', async () => {
  const ui = new FakeUi();
  const tool = makeTool({ ui, async: true, autoBackground: { afterMs: 100 } });
  const started = await tool.execute({
    command: 'test -t 1 && echo own',
    pty: true,
    async: true,
  });
  expect(started.details.async?.state).toBe('running');
  expect(textOf(started)).toContain('Background job bg_1 started');
  const polled = await tool.job?.execute({ poll: [] });
  expect(polled && textOf(polled)).toContain('own\n');
  expect(ui.requests).toEqual([]);
  const result = await tool.execute({ command: 'sleep 0.5; test -t 1 && echo tty', pty: true });
  expect(textOf(result)).toMatch(/^tty\n/);
  expect(result.details).not.toHaveProperty('async');
});

test('a UI that is none is an input error', () => {
  const ui = {} as FakeUi;
  expect(() => makeTool({ ui })).toThrow('ui: expected a terminal UI with openConsole(), got {}');
});
