import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createBashTool, run } from '../../src/index.js';
import { leavesNothingBehind, useFolder, useOwners } from '../support/leftovers.js';
import { eventually, isGone, lives } from '../support/processes.js';
import { exited, printed } from '../support/results.js';
import { answerTo, textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newOwner = useOwners();

test('A1: a background child that holds the pipe does not delay the result, which names it', async () => {
  const owner = newOwner();
  const started = performance.now();
  const result = await run('sleep 300 & echo done', { owner });
  expect(performance.now() - started).toBeLessThan(1000);
  expect(result.outcome).toEqual(exited(0));
  expect(printed(result)).toBe('done\n');
  const [child] = result.background;
  expect(result.background).toEqual([
    { pid: expect.any(Number), processGroup: result.pid, command: 'sleep 300' },
  ]);
  expect(lives(child?.pid ?? 0)).toBe(true);
  await owner.dispose();
  expect(isGone(child?.pid ?? 0)).toBe(true);
});

test('A1: the workspace contract tells the model what still runs and how to stop it', async () => {
  const tool = createBashTool({ contract: 'workspace', cwd: folder.path });
  const result = await tool.execute({ command: 'sleep 300 & echo done' });
  expect(result.isError).toBeUndefined();
  const [child] = result.details.background ?? [];
  expect(textOf(result)).toContain(
    `Still running in the background: ${child?.pid} (sleep 300). ` +
      `To stop: kill -9 -- -${child?.processGroup}`,
  );
  await tool.execute({ command: `kill -9 -- -${child?.processGroup}` });
  await eventually(() => expect(isGone(child?.pid ?? 0)).toBe(true));
  await tool.dispose();
});

test('A2: a child that keeps printing extends the drain by a fixed time at most', async () => {
  const command = '(while :; do echo x; sleep .1; done) & sleep 1; echo fg';
  const result = await run(command, { owner: newOwner(), timeoutMs: 30_000 });
  expect(result.outcome).toEqual(exited(0));
  expect(result.durationMs).toBeGreaterThanOrEqual(1000);
  expect(printed(result)).toMatch(/^(x\n)+fg\n(x\n)*$/);
  // Two seconds of drain, ten lines each.
  expect(printed(result).split('fg\n')[1]?.length).toBeLessThan(30 * 2);
});

test('A3: both sides of a && b & c print, and the sleeper delays nothing', async () => {
  const started = performance.now();
  const result = await run('echo BEFORE && sleep 300 & echo AFTER', { owner: newOwner() });
  expect(performance.now() - started).toBeLessThan(2000);
  expect(printed(result).split('\n').sort()).toEqual(['', 'AFTER', 'BEFORE']);
});

test('A4: a command that waits for its child at the deadline has timed out', async () => {
  const result = await run('sleep 10 & wait', { timeoutMs: 1000 });
  expect(result.outcome).toEqual({
    kind: 'timedOut',
    timeoutMs: 1000,
    forced: false,
    ending: { kind: 'signaled', signal: 'SIGTERM' },
  });
  expect(result.background).toEqual([]);
});

test('A5: a server started with nohup lives on until its owner is disposed', async () => {
  const tool = createBashTool({ contract: 'workspace', cwd: folder.path });
  const start = 'nohup python3 -m http.server 0 >/dev/null 2>&1 & echo $!';
  const pid = Number.parseInt(await answerTo(tool, { command: start }), 10);
  expect(await answerTo(tool, { command: `kill -0 ${pid} && echo up` })).toMatch(/^up\n/);
  expect(lives(pid)).toBe(true);
  await tool.dispose();
  expect(isGone(pid)).toBe(true);
});

test('A5: disposing of one owner leaves the processes of another alone', async () => {
  const [mine, other] = [newOwner(), newOwner()];
  const command = 'nohup sleep 300 >/dev/null 2>&1 & echo $!';
  const results = [await run(command, { owner: mine }), await run(command, { owner: other })];
  const [first = 0, second = 0] = results.map((result) => Number(printed(result)));
  await mine.dispose();
  expect([lives(first), lives(second)]).toEqual([false, true]);
});

test('A6: a child can still write after the result, without SIGPIPE and without blocking', async () => {
  const done = folder.file('x.done');
  const command = `(sleep 1; head -c 300000 /dev/zero; echo ok >${done}) & echo hi`;
  const result = await run(command, { owner: newOwner() });
  expect(printed(result)).toBe('hi\n');
  expect(existsSync(done)).toBe(false);
  await eventually(() => expect(readFileSync(done, 'utf8')).toBe('ok\n'));
});

test('A6: the same is true with a spill file, which has the output before the result', async () => {
  const [done, spill] = [folder.file('y.done'), folder.file('y.out')];
  const command = `(sleep 1; head -c 300000 /dev/zero; echo ok >${done}) & echo hi`;
  const result = await run(command, { owner: newOwner(), spill });
  expect(result.spill).toEqual({ path: spill, bytes: 3, dropped: 0 });
  await eventually(() => expect(readFileSync(done, 'utf8')).toBe('ok\n'));
  expect(readFileSync(spill, 'utf8')).toBe('hi\n');
});

test('A7: true prints nothing and exits with 0, at once', async () => {
  const started = performance.now();
  const result = await run('true');
  expect(performance.now() - started).toBeLessThan(250);
  expect(result.outcome).toEqual(exited(0));
  expect(result.output).toEqual({
    kind: 'complete',
    text: '',
    total: { bytes: 0, characters: 0, lines: 0 },
    lossy: false,
  });
  expect(result.background).toEqual([]);
});

test('A8: process substitutions deliver all they print, and diff its exit code', async () => {
  const result = await run('diff <(echo a) <(echo b)');
  expect(result.outcome).toEqual(exited(1));
  expect(printed(result)).toBe('1c1\n< a\n---\n> b\n');
});

test('A8: the end of the last process with the pipe is noticed at once, not only after the drain', async () => {
  const started = performance.now();
  for (let count = 0; count < 10; count += 1) await run('sleep 0.01 & diff <(:) <(:)');
  // Ten times 250 ms, if only time told.
  expect(performance.now() - started).toBeLessThan(2000);
});

test('A8: a process substitution that prints after the command is waited for', async () => {
  const result = await run('echo first > >(cat; sleep 0.1; echo last)');
  expect(printed(result)).toBe('first\nlast\n');
  expect(result.background).toEqual([]);
});
