import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { attach, listTasks, type TaskEvent } from '../../../src/index.js';
import { backgroundIn, endingOf, outputOf, useBackground } from '../../support/background.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { useModesTools } from '../../support/modes.js';
import { commandLineOf, eventually, isGone, lives, parentOf } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const background = useBackground();
const makeTool = useModesTools(background.folder);

/** Where all of the user's outputs are. */
const home = () => join(background.folder.path, 'forkline');
const outputs = () => readdirSync(home()).filter((name) => name.startsWith('background-'));

test('output goes to the file as it comes', async () => {
  const started = await background.start(makeTool(), `echo first; ${longSleep(330)}`);
  await eventually(() => expect(outputOf(started)).toBe('first\n'));
});

test('beside limits, which the host keeps, nothing is started that outlives it', async () => {
  const tool = makeTool({ limits: { cpuSeconds: 5 } });
  const error = await failureOf(tool.execute({ command: longSleep(332), mode: 'background' }));
  expect(error).toMatchObject({
    message: expect.stringMatching(/^mode: expected 'default' or 'slow'/),
  });
  expect(sleeping(332)).toEqual([]);
});

test('the file and its directory are for the user alone', async () => {
  const { outputFile } = await background.start(makeTool(), 'true');
  expect(statSync(outputFile).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(outputFile)).mode & 0o777).toBe(0o700);
});

test('the file has the exact bytes, however many', async () => {
  const command = "printf 'a\\200\\0b\\n'; seq 1 100000";
  const started = await background.start(makeTool(), command);
  await endingOf(started);
  expect(statSync(started.outputFile).size).toBe(
    5 + 588_895 + '\n\n[background process completed]\n'.length,
  );
});

test('at its limit it is ended like any command, and the line says so', async () => {
  const tool = makeTool({ timeouts: { background: 1 }, graceMs: 500 });
  const pause = longSleep(331);
  const command = `trap '' TERM; setsid ${pause} & echo on; while :; do ${pause}; done`;
  const started = await background.start(tool, command);
  expect(await endingOf(started)).toBe('on\n\n\n[background process timed out after 1s]\n');
  expect(sleeping(331)).toEqual([]);
});

test('D7: T8: of an output over the limit both ends are kept, and the line says where and how much is not', async () => {
  const tool = makeTool({ maxBackgroundBytes: 1000 });
  const started = await background.start(tool, 'yes | head -c 300000; sleep 1; echo late; exit 3');
  // As soon as it is over the limit, the file names the rest.
  await eventually(() =>
    expect(outputOf(started)).toContain('output goes on after these 500 bytes'),
  );
  const ending = await endingOf(started);
  const [output, goesOn = '', cut = ''] = ending.split('\n\n\n');
  expect(`${output}\n`).toBe('y\n'.repeat(250));
  expect(goesOn).toBe(
    `[output goes on after these 500 bytes; the last of it: cat ${started.outputFile}.last-*]`,
  );
  const line =
    /^\[output cut after 500 bytes, (\d+) bytes are left out here; the last (\d+) bytes: (cat .*)\]\n\[.*: 3\]\n$/;
  expect(cut).toMatch(line);
  const [, left, last, command = ''] = line.exec(cut) ?? [];
  expect(500 + Number(left) + Number(last)).toBe(300_005);
  const text = textOf(await tool.execute({ command }));
  expect(text.endsWith('y\nlate\n')).toBe(true);
  expect(text.length).toBe(Number(last));
});

test('D7: an output that is as long as the limit is all there, and nothing is said', async () => {
  const tool = makeTool({ maxBackgroundBytes: 4 });
  const started = await background.start(tool, 'echo abc');
  expect(await endingOf(started)).toBe('abc\n\n\n[background process completed]\n');
});

test('disposing of the tool does not end it', async () => {
  const tool = makeTool();
  const started = await background.start(tool, `sleep 0.5; echo still; ${longSleep(332)}`);
  await tool.dispose();
  await eventually(() => expect(outputOf(started)).toBe('still\n'));
  expect(lives(started.pid)).toBe(true);
});

test('a call that is cancelled while it is started gets its answer', async () => {
  const before = existsSync(home()) ? outputs().length : 0;
  const cancel = new AbortController();
  const call = makeTool().execute(
    { command: longSleep(333), mode: 'background' },
    { signal: cancel.signal },
  );
  // Late enough for the input to have been checked.
  await eventually(() => expect(outputs().length).toBe(before + 1));
  cancel.abort();
  expect(lives(background.note(textOf(await call)).pid)).toBe(true);
});

test('a background command that fails to start leaves no directory', async () => {
  const before = outputs();
  const tool = makeTool({ shell: ['/no/bash'] });
  await failureOf(tool.execute({ command: 'true', mode: 'background' }));
  expect(outputs()).toEqual(before);
});

test('a temporary directory that cannot be used is an error of the system', async () => {
  const tmp = join(background.folder.path, 'missing');
  mkdirSync(join(tmp, `forkline-${process.getuid?.()}`), { recursive: true });
  chmodSync(join(tmp, `forkline-${process.getuid?.()}`), 0o755);
  vi.stubEnv('TMPDIR', tmp);
  vi.stubEnv('XDG_STATE_HOME', '/proc/none');
  const error = await failureOf(makeTool().execute({ command: 'true', mode: 'background' }));
  vi.stubEnv('TMPDIR', background.folder.path);
  vi.stubEnv('XDG_STATE_HOME', background.folder.path);
  expect(error).toMatchObject({
    kind: 'launch',
    message: expect.stringMatching(
      /^Command could not be started: no directory for its output: .*: expected mode 700, got 755$/,
    ),
  });
});

test('outputs go a week after the latest end that their commands can have had', async () => {
  const second = Math.floor(Date.now() / 1000);
  const [old, recent] = [`background-${second - 10}-aaaaaa`, `background-${second + 60}-bbbbbb`];
  for (const name of [old, recent, 'background-', 'other-1-cccccc']) {
    mkdirSync(join(home(), name), { recursive: true, mode: 0o700 });
  }
  const { outputFile } = await background.start(makeTool(), 'true');
  await eventually(() => expect(readdirSync(home())).not.toContain(old));
  const left = readdirSync(home());
  expect(left).toEqual(expect.arrayContaining([recent, 'background-', 'other-1-cccccc']));
  const [, removable] = /background-(\d+)-/.exec(outputFile) ?? [];
  const days = (Number(removable) - second) / 86_400;
  expect(days).toBeGreaterThan(8);
  expect(days).toBeLessThan(8.01);
});

test('L4: a running command keeps its file, even when the clock jumps', async () => {
  // Not noted for the end of the test, when a clean-up that began here may take what has ended.
  const begin = async (command: string) =>
    backgroundIn(textOf(await makeTool().execute({ command, mode: 'background' })));
  const started = await begin(`echo on; ${longSleep(338)}`);
  const ended = await begin('true');
  await endingOf(ended);
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + 9 * 86_400_000);
  try {
    await eventually(async () => {
      await background.start(makeTool(), 'true');
      expect(existsSync(dirname(ended.outputFile))).toBe(false);
    });
  } finally {
    vi.restoreAllMocks();
  }
  expect(outputOf(started)).toBe('on\n');
  process.kill(-started.pid, 'SIGKILL');
  await eventually(() => expect(isGone(started.pid)).toBe(true));
});

test('L8: old files are removed during the start of a command, a few at a time', async () => {
  const second = Math.floor(Date.now() / 1000) - 10;
  const old = Array.from({ length: 300 }, (_, index) => `background-${second}-${index}`);
  for (const name of old) mkdirSync(join(home(), name), { recursive: true, mode: 0o700 });
  const oldLeft = () => outputs().filter((name) => old.includes(name)).length;
  // One that is under way already takes the place of this one.
  await eventually(async () => {
    await background.start(makeTool(), 'true');
    expect(oldLeft()).toBeLessThan(300);
  });
  expect(oldLeft()).toBeGreaterThan(0);
  await eventually(async () => {
    await background.start(makeTool(), 'true');
    expect(oldLeft()).toBe(0);
  });
});

test('B7: the text of the command is in no wrapper, so that pkill -f does not end it', async () => {
  const pause = longSleep(334);
  const command = `${pause} & sleep 0.2; pkill -f '${pause}'; echo alive`;
  const started = await background.start(makeTool(), command);
  expect(await endingOf(started)).toMatch(/alive\n\n\n\[background process completed\]\n$/);
});

test('G1: a long command runs', async () => {
  const command = `x=${'a'.repeat(200_000)}; echo \${#x}`;
  expect(await endingOf(await background.start(makeTool(), command))).toMatch(/^200000\n/);
});

test('G4: signals are at their defaults', async () => {
  const started = await background.start(makeTool(), 'set -o pipefail; yes | head -1');
  expect(await endingOf(started)).toBe('y\n\n\n[background process failed: exit status: 141]\n');
});

test('D7: it has no descriptor of the host', async () => {
  const started = await background.start(makeTool(), 'ls -l /proc/self/fd | grep -c -e "->"');
  // 0, 1, 2 and what ls itself opens.
  expect(await endingOf(started)).toMatch(/^4\n/);
});

test('its keeper ends with it', async () => {
  const { pid } = await background.start(makeTool(), longSleep(335));
  const keeper = parentOf(pid);
  expect(commandLineOf(keeper)).toMatch(/^forkline-keeper detach \d+$/);
  process.kill(-pid, 'SIGKILL');
  await eventually(() => expect(isGone(keeper)).toBe(true));
});

test('it is one of the detached tasks of the user, and can be followed', async () => {
  const started = await background.start(makeTool(), `echo on; ${longSleep(339)}`);
  const found = (await listTasks()).find(({ pid }) => pid === started.pid);
  expect(found).toMatchObject({
    state: 'running',
    outputFile: started.outputFile,
    command: `echo on; ${longSleep(339)}`,
    hasInput: false,
  });
  const task = await attach(found?.id ?? '');
  await eventually(() => expect(outputOf(started)).toBe('on\n'));
  await task.stop();
  expect(task).toMatchObject({ state: 'ended', receipt: { kept: { bytes: 3 } } });
  expect(await endingOf(started)).toBe(
    'on\n\n\n[background process failed: signal: 15 (SIGTERM)]\n',
  );
});

test('a runtime is told of it, as of any task', async () => {
  const events: TaskEvent[] = [];
  const ends: string[] = [];
  const tool = makeTool({
    tasks: { onEvent: (event) => events.push(event), onEnd: (_, { text }) => ends.push(text) },
  });
  const started = await background.start(tool, 'echo on; sleep 0.3; exit 3');
  await eventually(() => expect(events.at(-1)?.news.at(-1)).toEqual({ kind: 'gone' }));
  const line = '\n\n[background process failed: exit status: 3]\n';
  expect(events.map(({ output }) => output?.text).join('')).toBe(`on\n${line}`);
  expect(events.at(-1)).toMatchObject({ task: { lifetime: 'detached', result: 'failed' } });
  expect(ends).toEqual([`on\n${line}`]);
  expect(await endingOf(started)).toBe(`on\n${line}`);
});
