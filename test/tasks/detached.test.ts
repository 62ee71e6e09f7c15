import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { type DetachedSubject, detach, listTasks } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { follow, printedBy, untilState, useTasks } from '../support/detached-tasks.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { descriptors, where } from '../support/needs.js';
import { eventually, isGone, lives, openDescriptors, parentOf } from '../support/processes.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const tasks = useTasks();

const built = new URL('../../dist/index.js', import.meta.url);

interface Started {
  readonly id: string;
  readonly pid: number;
}

test('B12: two builds whose host was killed are found by another one, followed, written to and ended', async () => {
  const host = startHost('detach', { env: { TMPDIR: tasks.folder.path } });
  const begin = async (command: string, options = {}): Promise<Started> => {
    host.child.stdin?.write(`${JSON.stringify({ command, options })}\n`);
    const started = await host.next<Started>();
    tasks.note(started.id);
    return started;
  };
  const one = await begin(`echo one; read answer; echo "got $answer"; exit 3`, { stdin: 'pipe' });
  const two = await begin(`echo two; ${longSleep(350)}`);
  host.child.kill('SIGKILL');
  await host.ended;

  const found = await listTasks();
  expect(found).toMatchObject([
    { ...one, state: 'running', hasInput: true, lifetime: 'detached' },
    { ...two, state: 'running', hasInput: false, command: `echo two; ${longSleep(350)}` },
  ]);
  const [first, second] = await Promise.all([follow(one.id), follow(two.id)]);
  await eventually(async () => expect(await printedBy(first)).toBe('one\n'));
  const { from, total } = await first.read(4, 100);
  expect({ from, total }).toEqual({ from: 4, total: 4 });
  await first.write(Buffer.from('yes\n'));
  await untilState(first, 'ended');
  expect(Buffer.from((await first.read(4, 100)).bytes).toString()).toBe('got yes\n');
  expect(first.state).toMatchObject({
    kind: 'ended',
    receipt: { pid: one.pid, outcome: { kind: 'exited', exitCode: 3 }, kept: { bytes: 12 } },
  });

  await second.end();
  expect(second.state).toMatchObject({
    kind: 'ended',
    receipt: { outcome: { kind: 'cancelled', by: 'kill', ending: { signal: 'SIGTERM' } } },
  });
  expect(isGone(two.pid)).toBe(true);
  expect((await listTasks()).map(({ state }) => state)).toEqual(['ended', 'ended']);
});

test('followers are told of output and of each change, and can stop', async () => {
  const subject = await tasks.start(`read a; echo out; ${longSleep(351)} & exit 4`, {
    stdin: 'pipe',
  });
  const seen: string[] = [];
  const stop = subject.watch(() => seen.push(subject.state.kind));
  await subject.write(Buffer.from('\n'));
  await untilState(subject, 'left');
  expect(subject.state).toMatchObject({
    receipt: {
      outcome: { kind: 'exited', exitCode: 4 },
      background: [{ command: longSleep(351), ports: [] }],
    },
  });
  expect(seen[0]).toBe('running');
  expect(seen.at(-1)).toBe('left');
  const [only] = (await subject.members()) ?? [];
  process.kill(only?.pid ?? 0, 'SIGKILL');
  await untilState(subject, 'ended');
  expect(seen.at(-1)).toBe('ended');
  expect(subject.state).toMatchObject({ receipt: { outcome: { exitCode: 4 }, background: [] } });
  expect(await subject.members()).toEqual([]);
  stop();
});

test('a time limit is enforced by the keeper, and is in the receipt', async () => {
  const subject = await tasks.start(`trap '' TERM; while :; do ${longSleep(352)}; done`, {
    timeoutMs: 300,
    graceMs: 100,
  });
  await untilState(subject, 'ended');
  expect(subject.state).toMatchObject({
    receipt: {
      outcome: { kind: 'timedOut', timeoutMs: 300, forced: true, ending: { signal: 'SIGKILL' } },
    },
  });
  expect(sleeping(352)).toEqual([]);
});

test('a write or a signal that fails is reported', async () => {
  const deaf = await tasks.start(longSleep(353));
  expect(String(await failureOf(deaf.write(Buffer.from('x'))))).toBe(
    "InputError: data: expected a task that was started with stdin: 'pipe' or pty",
  );
  expect(String(await failureOf(deaf.signal('SIGNONE' as NodeJS.Signals)))).toMatch(
    /^InputError: signal: expected the name of a signal/,
  );
  expect(await deaf.signal('SIGKILL')).toBe(true);
  await untilState(deaf, 'ended');
  expect(await deaf.signal('SIGKILL')).toBe(false);
  expect(() => deaf.watch('x' as never)).toThrow(/^told: expected a function, got "x"$/);
  expect(String(await failureOf(deaf.read(-1, 5)))).toMatch(/^InputError: since: expected a whole/);
  const closed = await tasks.start(`exec <&-; echo on; ${longSleep(353)}`, { stdin: 'pipe' });
  await eventually(async () => expect(await printedBy(closed)).toBe('on\n'));
  expect(await failureOf(closed.write(Buffer.from('x')))).toMatchObject({ code: 'EPIPE' });
  expect(String(await failureOf(follow('nosuch')))).toBe(
    'InputError: id: expected the id of a detached task, got "nosuch"',
  );
});

test('simultaneous writes of two processes arrive whole, however full the pipe is', async () => {
  const subject = await tasks.start('sleep 0.2; sort | uniq -c', { stdin: 'pipe' });
  const lines = (text: string) => `${text.repeat(99)}\n`.repeat(500);
  const script = `
    const { attach } = await import(${JSON.stringify(built)});
    const { subject: other } = await attach(${JSON.stringify(subject.id)});
    for (let count = 0; count < 8; count += 1) await other.write(${JSON.stringify(lines('b'))});`;
  const other = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  for (let count = 0; count < 8; count += 1) await subject.write(Buffer.from(lines('a')));
  await other;
  subject.closeInput();
  await untilState(subject, 'ended');
  const counts = (await printedBy(subject)).trim().split('\n');
  expect(counts.map((count) => count.trim())).toEqual([
    `4000 ${'a'.repeat(99)}`,
    `4000 ${'b'.repeat(99)}`,
  ]);
});

test("repeated calls of attach() share one connection, which is closed at the command's end", async () => {
  const before = openDescriptors().length;
  const subject = await tasks.start('read a', { stdin: 'pipe' });
  const all: DetachedSubject[] = [];
  for (let count = 0; count < 50; count += 1) all.push(await follow(subject.id));
  expect(openDescriptors().length).toBeLessThanOrEqual(before + 2);
  const kinds = Promise.all(all.map((each) => untilState(each, 'ended')));
  await subject.write('\n');
  await kinds;
  await eventually(() => expect(openDescriptors().length).toBeLessThanOrEqual(before));
});

test(
  'sixty tasks that have ended are listed with one that runs',
  where(descriptors(1024)),
  async () => {
    await Promise.all(Array.from({ length: 60 }, () => tasks.start('true')));
    const running = await tasks.start(longSleep(354));
    await eventually(async () => {
      const states = (await listTasks()).filter(({ state }) => state === 'running');
      expect(states.map(({ id }) => id)).toEqual([running.id]);
    });
  },
);

test('following a task keeps the host alive only while an answer is awaited', async () => {
  const subject = await tasks.start(longSleep(355));
  const script = `
    const { attach } = await import(${JSON.stringify(built)});
    const { subject } = await attach(${JSON.stringify(subject.id)});
    subject.watch(() => {});
    await subject.members();`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 10_000,
  });
  expect(status).toBe(0);
  expect(lives(subject.record.pid)).toBe(true);
  expect(lives(parentOf(subject.record.pid))).toBe(true);
});

test('L4: a task without a time limit keeps its place while it runs, and a week after its end', async () => {
  const running = await tasks.start(`echo on; ${longSleep(356)}`);
  const { subject: ended } = await detach('true');
  await untilState(ended, 'ended');
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + 9 * 86_400_000);
  try {
    await eventually(async () => {
      await tasks.start('true');
      expect((await listTasks()).map(({ id }) => id)).not.toContain(ended.id);
    });
  } finally {
    vi.restoreAllMocks();
  }
  expect((await follow(running.id)).state.kind).toBe('running');
  await eventually(async () => expect(await printedBy(running)).toBe('on\n'));
});
