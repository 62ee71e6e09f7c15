import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { ToolAbortError, ToolResult } from '../../../../src/index.js';
import { longSleep, sleeping } from '../../../support/commands.js';
import { FakeUi } from '../../../support/console.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { failureOf } from '../../../support/results.js';
import { answerTo, textOf, useWorkspaceTools } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = useWorkspaceTools(folder);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('with pty: true a command runs on a terminal, in a console, and what it prints is read as text', async () => {
  const ui = new FakeUi();
  const command = `test -t 0 && stty size; printf '\\e[31mred\\e[0m\\r\\n10%%\\r100%%\\n'`;
  const answer = await answerTo(makeTool({ ui }), { command, pty: true });
  expect(answer).toBe('40 120\nred\n100%\n\nWall time: T seconds');
  expect(ui.requests).toEqual([{ title: 'Console', command }]);
  expect(ui.screen).toBe('40 120\nred\n100%');
  expect(ui.closed).toBe(1);
});

test('a screen drawn by a few bytes is cut at the end of a line, and a line says how much is not shown (Q1)', async () => {
  const command = `for i in 1 2 3 4 5 6 7 8 9; do printf "$i\\e[99b\\n"; done`;
  const tool = makeTool({ ui: new FakeUi(), tailBytes: 200 });
  const answer = await answerTo(tool, { command, pty: true });
  const lines = [7, 8, 9].map((digit) => String(digit).repeat(100)).join('\n');
  expect(answer).toBe(`[… 606B of the drawn output not shown …]\n${lines}\n\nWall time: T seconds`);
});

test('the screen comes with its styles, its cursor, and which rows are new', async () => {
  const ui = new FakeUi({ size: { columns: 30, rows: 6 } });
  const command = `printf '\\e[?25la\\e[1;38;5;3mb\\e[0;48;2;1;2;3mc\\e[0m\\nnext'; read x; printf x`;
  const call = makeTool({ ui }).execute({ command, pty: true });
  await ui.shows('next');
  expect(ui.frames.at(-1)).toEqual({
    size: { columns: 30, rows: 6 },
    rows: [
      [
        { text: 'a', style: {} },
        { text: 'b', style: { bold: true, foreground: { palette: 3 } } },
        { text: 'c', style: { background: { rgb: 0x010203 } } },
      ],
      [{ text: 'next', style: {} }],
      [],
      [],
      [],
      [],
    ],
    changed: expect.arrayContaining([1]),
    cursor: { column: 4, row: 1, visible: false },
    bracketedPaste: false,
  });
  ui.events.input('k\r');
  await call;
  expect(ui.screen).toBe('abc\nnextk\nx');
  expect(ui.frames.at(-1)?.changed).not.toContain(0);
});

test('keys go to the command, which may ask for a password and not show it', async () => {
  const ui = new FakeUi();
  const command = 'read -s -p "Password: " p; echo; echo "got $p" | rev';
  const call = makeTool({ ui }).execute({ command, pty: true });
  await ui.shows('Password:');
  ui.events.input('s3cret');
  ui.events.input(new Uint8Array([13]));
  expect(textOf(await call)).toMatch(/^Password: \nterc3s tog\n/);
});

test('keys typed before the command has started are not lost', async () => {
  const ui = new FakeUi();
  const open = ui.openConsole.bind(ui);
  vi.spyOn(ui, 'openConsole').mockImplementation((request, events) => {
    const overlay = open(request, events);
    events.input('early\r');
    return overlay;
  });
  const answer = await answerTo(makeTool({ ui }), { command: 'read x; echo "<$x>"', pty: true });
  expect(answer).toContain('<early>\n');
});

test('Esc ends the command, and it is said who did that', async () => {
  const ui = new FakeUi();
  const nap = longSleep(431);
  const call = failureOf(makeTool({ ui }).execute({ command: `echo up; ${nap}`, pty: true }));
  await ui.shows('up');
  ui.events.input('\x1b[A');
  await sleep(200);
  expect(sleeping(431)).toHaveLength(1);
  ui.events.input('\x1b');
  expect(await call).toMatchObject({
    name: 'ToolError',
    kind: 'dismissed',
    message: 'up\n^[[A\n\nThe user ended it from the console.\n\nCommand cancelled',
  });
  expect(sleeping(431)).toEqual([]);
  expect(ui.closed).toBe(1);
});

test('closing the overlay ends the command, and doing it again ends its grace', async () => {
  const ui = new FakeUi();
  const tool = makeTool({ ui, graceMs: 600_000 });
  const command = `trap '' TERM; echo up; ${longSleep(432)}; ${longSleep(432)}`;
  const call = failureOf(tool.execute({ command, pty: true }));
  await ui.shows('up');
  ui.events.dismiss();
  await sleep(100);
  ui.events.dismiss();
  expect(await call).toMatchObject({ kind: 'dismissed' });
  expect(sleeping(432)).toEqual([]);
});

test('a command dismissed before it has started is ended', async () => {
  const ui = new FakeUi();
  const open = ui.openConsole.bind(ui);
  vi.spyOn(ui, 'openConsole').mockImplementation((request, events) => {
    const overlay = open(request, events);
    events.dismiss();
    return overlay;
  });
  const error = await failureOf(makeTool({ ui }).execute({ command: longSleep(433), pty: true }));
  expect(error).toMatchObject({ kind: 'dismissed' });
});

test("the caller's cancellation is an abort, and the timeout says how long it was", async () => {
  const ui = new FakeUi();
  const controller = new AbortController();
  const call = failureOf(
    makeTool({ ui }).execute(
      { command: `echo up; ${longSleep(434)}`, pty: true },
      { signal: controller.signal },
    ),
  );
  await ui.shows('up');
  controller.abort();
  const error = (await call) as ToolAbortError;
  expect([error.name, error.message]).toEqual(['ToolAbortError', 'up\n\nCommand cancelled']);
  const late = makeTool({ ui, timeout: { min: 0.1 } });
  const input = { command: `printf '\\e[?1049hfull'; ${longSleep(434)}`, pty: true, timeout: 1 };
  expect(await failureOf(late.execute(input))).toMatchObject({
    kind: 'timedOut',
    message:
      'full\n\nCommand timed out after 1 second\nFor more time, pass a larger `timeout` (at most 3600).',
  });
  expect(ui.closed).toBe(2);
});

test('the size is that of the overlay, at the start and from then on, and never out of range', async () => {
  const ui = new FakeUi({ size: { columns: 90, rows: 20 } });
  const command = 'trap "stty size" WINCH; stty size; while :; do sleep 0.05; done';
  const call = failureOf(makeTool({ ui }).execute({ command, pty: true }));
  await ui.shows('20 90');
  ui.events.resize({ columns: 100, rows: 30 });
  await ui.shows('30 100');
  ui.events.resize({ columns: 1000, rows: 1 });
  await ui.shows('5 400');
  expect(ui.frames.at(-1)?.size).toEqual({ columns: 400, rows: 5 });
  ui.events.dismiss();
  await call;
});

test('programs get a terminal with colours and pagers, and the call has the last word', async () => {
  vi.stubEnv('TERM', 'dumb');
  for (const name of ['CI', 'NO_COLOR', 'PAGER']) vi.stubEnv(name, undefined);
  const tool = makeTool({ ui: new FakeUi() });
  const command = 'echo "$TERM|$PAGER|$NO_COLOR|$CI|$A"';
  expect(await answerTo(tool, { command, pty: true })).toContain('xterm-256color||||\n');
  const env = { TERM: 'vt100', A: '1' };
  expect(await answerTo(tool, { command, pty: true, env })).toContain('vt100||||1\n');
});

test('the terminal answers what programs ask of it', async () => {
  const ui = new FakeUi();
  const command = `stty raw -echo; printf 'abc\\e[6n'; IFS=R read -r -d R x; stty sane; printf '%q' "$x"`;
  expect(await answerTo(makeTool({ ui }), { command, pty: true })).toContain("$'\\E[1;4'");
});

test('a program that asks without end is answered only as fast as it reads', async () => {
  const ui = new FakeUi();
  const tool = makeTool({ ui, timeout: { min: 0.1 } });
  const input = { command: "yes $'\\e[6n'", pty: true, timeout: 1.5 };
  expect(await failureOf(tool.execute(input))).toMatchObject({ kind: 'timedOut' });
});

test('an overlay that fails to draw ends its command, and is closed', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const ui = new FakeUi({
    draw: () => {
      throw new Error('broken');
    },
  });
  const call = makeTool({ ui }).execute({ command: longSleep(435), pty: true });
  expect(await failureOf(call)).toMatchObject({ kind: 'dismissed' });
  expect(warn).toHaveBeenCalledWith("the console's draw() failed: Error: broken");
  expect(ui.closed).toBe(1);
});

test('an overlay that hangs does not hang the call', async () => {
  const ui = new FakeUi({ draw: () => new Promise(() => {}) });
  expect(await answerTo(makeTool({ ui }), { command: 'echo x', pty: true })).toContain('x\n');
  expect(ui.closed).toBe(1);
});

test('disposing of the tool ends the command and closes its console', async () => {
  const ui = new FakeUi();
  const tool = makeTool({ ui });
  const call = failureOf(tool.execute({ command: `echo up; ${longSleep(436)}`, pty: true }));
  await ui.shows('up');
  await tool.dispose();
  expect(await call).toMatchObject({ name: 'ToolAbortError' });
  expect(ui.closed).toBe(1);
  expect(sleeping(436)).toEqual([]);
});

test('a command that cannot be started closes its console', async () => {
  const ui = new FakeUi();
  const tool = makeTool({ ui, shell: ['/no/such/shell'] });
  expect(await failureOf(tool.execute({ command: 'true', pty: true }))).toMatchObject({
    kind: 'launch',
  });
  expect(ui.closed).toBe(1);
});

test('updates are the screen, output chunks are all that was sent to draw it', async () => {
  const updates: string[] = [];
  let output = '';
  const tool = makeTool({ ui: new FakeUi() });
  const command = `printf '\\e[1mé\\e[0m 10%%\\r'; sleep 0.3; printf 'é 100%%\\n'; sleep 0.3`;
  await tool.execute(
    { command, pty: true },
    {
      onUpdate: (update) => updates.push(textOf(update as ToolResult<unknown>)),
      onOutput: ({ text }) => {
        output += text;
      },
    },
  );
  expect(updates).toContain('é 10%\n');
  expect(updates.at(-1)).toBe('é 100%\n');
  expect(output).toBe('\x1b[1mé\x1b[0m 10%\ré 100%\r\n');
});

test('long output is cut as that of a pipe, with true line numbers, and kept as exact bytes', async () => {
  const tool = makeTool({ ui: new FakeUi(), tailBytes: 1000, headBytes: 100 });
  const command = `for i in $(seq 1000); do printf '\\e[32m%d\\e[0m\\n' $i; done`;
  const result = await tool.execute({ command, pty: true });
  const text = textOf(result);
  expect(text).toMatch(/^1\n2\n3\n/);
  expect(text).toContain('\n1000\n\n[Showing lines 1-');
  const truncation = result.details.meta?.truncation;
  const first = truncation?.shownRange.start;
  expect(text).toMatch(new RegExp(`elided \\(\\d+\\.\\dKB\\) …\\]\n${first}\n`));
  expect(truncation).toMatchObject({ totalLines: 1000, artifactId: '0' });
  const whole = Buffer.from((await tool.artifacts?.read('0')) ?? []).toString();
  expect(whole.startsWith('\x1b[32m1\x1b[0m\r\n\x1b[32m2')).toBe(true);
});

test('a full-screen program that has ended leaves nothing to read', async () => {
  const input = { command: `printf '\\e[?1049hfull\\e[?1049l'`, pty: true };
  const answer = await answerTo(makeTool({ ui: new FakeUi() }), input);
  expect(answer).toBe('(no output)\n\nWall time: T seconds');
});

test('output that ends in the middle of a character is passed on to its end', async () => {
  let output = '';
  const onOutput = (chunk: { text: string }) => {
    output += chunk.text;
  };
  const tool = makeTool({ ui: new FakeUi() });
  await tool.execute({ command: `printf 'é\\xe2\\x82'`, pty: true }, { onOutput });
  expect(output).toBe('é\uFFFD');
});

test('a flood neither stops the clock nor waits for a slow overlay', async () => {
  const ui = new FakeUi({ draw: () => sleep(300) });
  const tool = makeTool({ ui, timeout: { min: 0.1 } });
  let ticks = 0;
  const clock = setInterval(() => {
    ticks += 1;
  }, 20);
  const before = process.memoryUsage.rss();
  const error = await failureOf(tool.execute({ command: 'yes', pty: true, timeout: 3 }));
  clearInterval(clock);
  expect(error).toMatchObject({ kind: 'timedOut' });
  expect(ticks).toBeGreaterThan(30);
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
});
