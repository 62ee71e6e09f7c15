import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { attach, type DetachedSubject, detach, listTasks } from '../../src/index.js';
import { cli, endOf, startCliOn } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { follow, untilState, useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually, isGone, lives, parentOf } from '../support/processes.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const tasks = useTasks();

const placeOf = (subject: DetachedSubject) => dirname(subject.outputFile);
const inList = async (id: string) => (await listTasks()).find((task) => task.id === id);

/** Stops the keeper of a task while `work` runs. */
async function whileStopped(
  subject: DetachedSubject,
  work: (keeper: number) => Promise<void>,
): Promise<void> {
  const keeper = parentOf(subject.record.pid);
  process.kill(keeper, 'SIGSTOP');
  try {
    await work(keeper);
  } finally {
    process.kill(keeper, 'SIGCONT');
  }
}

test('T7: a task whose keeper is stopped is running, and the reason is told', async () => {
  const subject = await tasks.start(longSleep(377));
  const { pid } = subject.record;
  await whileStopped(subject, async (keeper) => {
    const trouble = `its keeper, process ${keeper}, does not answer; the command's process, ${pid}, still runs`;
    expect(await inList(subject.id)).toMatchObject({ state: 'running', pid, trouble });
    const listed = await cli('tasks');
    expect(listed.stdout.toString()).toMatch(new RegExp(`^${subject.id} +running\\? `, 'm'));
    expect(listed.stderr).toBe(`forkline: ${subject.id}: ${trouble}\n`);
  });
  await eventually(async () => {
    const task = await inList(subject.id);
    expect([task?.state, task?.trouble]).toEqual(['running', undefined]);
  });
});

test('T7: such a task is attached to, heard again once its keeper goes on, and ended', async () => {
  const { stdout } = await cli('run', '--detach', '--keep-input', `cat; ${longSleep(378)}`);
  const id = tasks.note(stdout.toString().trim());
  const { pid, outputFile = '' } = (await inList(id)) ?? {};
  const keeper = parentOf(pid ?? 0);
  onTestFinished(() => {
    if (lives(keeper)) process.kill(keeper, 'SIGCONT');
  });
  process.kill(keeper, 'SIGSTOP');
  const subject = await follow(id);
  const stop = subject.watch(() => {});
  expect(subject.state).toEqual({
    kind: 'running',
    trouble: expect.stringMatching(/does not answer; the command's process, \d+, still runs$/),
  });
  expect(await subject.members()).toBeUndefined();
  expect(await failureOf(subject.write('x'))).toMatchObject({
    code: 'EPIPE',
    message: expect.stringMatching(/^EPIPE: its keeper, process \d+, does not answer/),
  });
  expect(outputFile).toBe(subject.outputFile);
  process.kill(keeper, 'SIGCONT');
  await eventually(() => expect(subject.state).toEqual({ kind: 'running' }));
  expect(await subject.members()).toHaveLength(2);
  stop();
  process.kill(keeper, 'SIGSTOP');
  // The command is told from any other by its number and start, so that it is ended without the keeper.
  const ended = await cli('attach', '--end', id);
  process.kill(keeper, 'SIGCONT');
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/does not answer; the command's process has ended since\n$/);
  await eventually(() => expect(isGone(pid ?? 0)).toBe(true));
  await eventually(async () => expect((await inList(id))?.state).toBe('ended'));
});

/** Makes the record of a running task one of another version; its keeper answers no more. */
function makeOther(subject: DetachedSubject): void {
  const path = join(placeOf(subject), 'output.state');
  const record = readFileSync(path);
  record.writeBigInt64LE(9n);
  writeFileSync(path, Buffer.concat([record, Buffer.from('what a later version adds')]));
  rmSync(join(placeOf(subject), 'output.socket'));
}

test('T17: a running task with a record of another version is listed, attached to and ended', async () => {
  const started = await cli('run', '--detach', `echo on; ${longSleep(379)}`);
  const id = tasks.note(started.stdout.toString().trim());
  const { pid = 0 } = (await inList(id)) ?? {};
  const subject = await follow(id);
  makeOther(subject);
  const told = await cli('tasks', '--json');
  const [task] = JSON.parse(told.stdout.toString()).filter((one: { id: string }) => one.id === id);
  expect(task).toMatchObject({
    state: 'running',
    pid,
    command: `echo on; ${longSleep(379)}`,
    trouble: `its keeper is of another version of forkline: its record has version 9, this forkline reads versions 2 to 4; the command's process, ${pid}, still runs`,
  });
  const child = startCliOn(['ignore', 'pipe', 'pipe'], 'attach', id);
  const attached = endOf(child);
  let said = '';
  child.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await eventually(() => expect(said).toMatch(/version 9/));
  // Its keeper, which is none of that version, records its end in its own.
  expect((await cli('attach', id, '--end')).code).toBe(0);
  await eventually(() => expect(sleeping(379)).toEqual([]));
  const shown = await attached;
  expect(shown.stdout.toString()).toBe('on\n');
  expect(shown.stderr).toMatch(/^forkline: its keeper is of another version .* version 9, /);
});

test('T17: a running task whose files are damaged is listed, with the reason', async () => {
  const subject = await tasks.start(longSleep(380));
  const { pid } = subject.record;
  const options = join(placeOf(subject), 'task.json');
  const record = join(placeOf(subject), 'output.state');
  writeFileSync(options, '{"version":2,"command":"sleep of a later version"}');
  const version = /task\.json\) can't be read: it has version 2, this forkline reads version 1$/;
  expect(await inList(subject.id)).toMatchObject({
    state: 'running',
    pid,
    command: 'sleep of a later version',
    trouble: expect.stringMatching(version),
  });
  writeFileSync(record, 'damaged');
  rmSync(options);
  // Its keeper answers all the same.
  expect(await inList(subject.id)).toMatchObject({ state: 'running', pid, command: '' });
  // Nothing is known now but the id.
  const { subject: other } = await detach(longSleep(380));
  const place = placeOf(other);
  const socket = join(place, 'output.socket');
  rmSync(socket);
  writeFileSync(join(place, 'output.state'), 'damaged');
  writeFileSync(join(place, 'task.json'), '');
  const found = await inList(other.id);
  expect(found).toMatchObject({ id: other.id, state: 'lost', pid: 0, command: '' });
  expect(found?.trouble).toMatch(
    /the record of its keeper can't be read: .*; its options .* can't be read/,
  );
  const { stdout, stderr, code } = await cli('attach', other.id);
  expect({ stdout: stdout.toString(), code }).toEqual({ stdout: '', code: 2 });
  expect(stderr).toMatch(
    /^forkline: id: nothing is known of task \w+: its options .*can't be read/,
  );
  await other.end(0);
  chmodSync(place, 0o700);
  await eventually(() => expect(sleeping(380)).toHaveLength(1));
});

test('T10: an attached task has a label, a status and an end, as any task', async () => {
  const { id } = await detach(`echo  one;\necho two; read a; exit 3`, { stdin: 'pipe' });
  tasks.note(id);
  const task = await attach(id);
  expect(task.label).toBe('echo one; echo two; read a; exit 3');
  expect(task.lifetime).toBe('detached');
  const { durationMs, ...status } = task.status();
  expect(status).toEqual({
    id,
    type: 'bash',
    state: 'running',
    label: task.label,
    lifetime: 'detached',
  });
  expect(durationMs).toBeGreaterThanOrEqual(0);
  const { ended } = task;
  await task.write('\n');
  expect(await ended).toEqual({ result: 'failed', text: 'one\ntwo\n', kept: task.outputFile });
  expect(task.status()).toMatchObject({ state: task.state, result: 'failed' });
  await untilState(task.subject, 'ended');
  expect(await (await attach(id)).ended).toMatchObject({ result: 'failed', text: 'one\ntwo\n' });
});

test('T10: the end of a lost task says that it is lost', async () => {
  const subject = await tasks.start(longSleep(381));
  const { ended } = await attach(subject.id);
  process.kill(parentOf(subject.record.pid), 'SIGKILL');
  expect(await ended).toMatchObject({
    result: 'failed',
    text: expect.stringMatching(/^Lost: its keeper, process \d+, was killed/),
  });
  expect((await attach(subject.id)).status()).toMatchObject({ state: 'lost', result: 'failed' });
  await subject.end(0);
});
