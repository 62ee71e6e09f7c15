import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type DetachedSubject, detach, listTasks } from '../../src/index.js';
import { cli } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { follow, printedBy, untilState, useTasks } from '../support/detached-tasks.js';
import { publicCopy, runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { eventually, isGone, lives, parentOf } from '../support/processes.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const tasks = useTasks();

const placeOf = (subject: DetachedSubject) => dirname(subject.outputFile);
const recordIn = (place: string) => join(place, 'output.state');

const stateOf = async (id: string) => (await listTasks()).find((task) => task.id === id)?.state;

/** Kills the keeper of a task, which goes on without. */
async function orphan(subject: DetachedSubject): Promise<void> {
  const keeper = parentOf(subject.record.pid);
  process.kill(keeper, 'SIGKILL');
  await eventually(() => expect(isGone(keeper)).toBe(true));
}

/** Changes the bytes of a record: eight of them stand for each number. */
function forge(place: string, change: (record: Buffer) => void): void {
  const record = readFileSync(recordIn(place));
  change(record);
  writeFileSync(recordIn(place), record);
}

/** Where the boot's id begins, and the numbers after it: when it began, keeper, leader, each with its start. */
const BOOT = 16;
const LEADER_STARTED = BOOT + 36 + 4 * 8;

test('a task whose keeper was killed is lost, and its own process can still be ended', async () => {
  const subject = await tasks.start(`trap '' TERM; echo on; while :; do ${longSleep(360)}; done`);
  // Before it bash may warn of a locale that is missing.
  await eventually(async () => expect(await printedBy(subject)).toMatch(/^on$/m));
  const { pid } = subject.record;
  const keeper = parentOf(pid);
  await orphan(subject);
  await untilState(subject, 'lost');
  const reason = `its keeper, process ${keeper}, was killed; the command's process, ${pid}, still runs`;
  expect(subject.state).toEqual({ kind: 'lost', reason });
  expect(await subject.members()).toBeUndefined();
  expect((await follow(subject.id)).state).toEqual({ kind: 'lost', reason });
  await subject.end(100);
  expect(isGone(pid)).toBe(true);
  await eventually(() => expect(sleeping(360)).toEqual([]));
  expect(subject.state).toEqual({
    kind: 'lost',
    reason: `its keeper, process ${keeper}, was killed; the command's process has ended since`,
  });
});

test.each([
  // The reason of a timeout is new since.
  [3, 8],
  // The number of the priority, too.
  [2, 16],
])('a record of version %d is read', async (version, newBytes) => {
  const subject = await tasks.start('true');
  await untilState(subject, 'ended');
  const place = placeOf(subject);
  forge(place, (record) => record.writeBigUInt64LE(BigInt(version)));
  const record = readFileSync(recordIn(place));
  // Before the number of processes that were left, which comes last.
  const older = Buffer.concat([record.subarray(0, -8 - newBytes), record.subarray(-8)]);
  writeFileSync(recordIn(place), older);
  expect(await stateOf(subject.id)).toBe('ended');
  expect((await follow(subject.id)).state).toMatchObject({ receipt: { troubles: [] } });
});

test('a follower without a connection hears of a killed keeper, which writes no record', async () => {
  const { stdout } = await cli('run', '--detach', longSleep(361));
  const id = tasks.note(stdout.toString().trim());
  const [task] = (await listTasks()).filter((each) => each.id === id);
  const place = dirname(task?.outputFile ?? '');
  rmSync(join(place, 'output.socket'));
  const subject = await follow(id);
  const stop = subject.watch(() => {});
  expect(subject.state).toEqual({ kind: 'running' });
  await orphan(subject);
  await untilState(subject, 'lost');
  stop();
  await subject.end(100);
  await eventually(() => expect(sleeping(361)).toEqual([]));
});

test('a task whose keeper was killed after its end has a receipt, which says that the remaining processes are not known', async () => {
  const subject = await tasks.start(`${longSleep(361)} & exit 5`);
  await untilState(subject, 'left');
  const [left] = (await subject.members()) ?? [];
  const keeper = parentOf(left?.pid ?? 0);
  process.kill(keeper, 'SIGKILL');
  await eventually(async () =>
    expect((await follow(subject.id)).state).toMatchObject({
      kind: 'left',
      receipt: {
        outcome: { kind: 'exited', exitCode: 5 },
        background: [],
        troubles: [expect.stringMatching(/still run is not known/)],
      },
    }),
  );
  process.kill(left?.pid ?? 0, 'SIGKILL');
});

test("a process id that another process has now is not taken for the command's", async () => {
  const subject = await tasks.start(longSleep(362));
  await orphan(subject);
  await untilState(subject, 'lost');
  forge(placeOf(subject), (record) => record.writeBigInt64LE(1n, LEADER_STARTED));
  const found = await follow(subject.id);
  expect(found.state).toMatchObject({ reason: expect.stringMatching(/has ended since$/) });
  expect(await found.signal('SIGKILL')).toBe(false);
  await found.end(0);
  expect(lives(subject.record.pid)).toBe(true);
  process.kill(-subject.record.pid, 'SIGKILL');
});

test('after a reboot a running task is lost, and an ended one is ended', async () => {
  const running = await tasks.start(longSleep(363));
  const ended = await tasks.start(`${longSleep(364)} & exit 6`);
  await untilState(ended, 'left');
  const { pid } = running.record;
  await orphan(running);
  process.kill(parentOf((await ended.members())?.[0]?.pid ?? 0), 'SIGKILL');
  await untilState(running, 'lost');
  for (const subject of [running, ended]) {
    forge(placeOf(subject), (record) => record.write('00000000', BOOT));
  }
  const found = await follow(running.id);
  expect(found.state).toEqual({
    kind: 'lost',
    reason: 'the machine was restarted while it ran',
  });
  await found.end(0);
  expect(lives(pid)).toBe(true);
  expect((await follow(ended.id)).state).toMatchObject({
    kind: 'ended',
    receipt: { outcome: { exitCode: 6 } },
  });
  process.kill(-pid, 'SIGKILL');
  for (const left of sleeping(364)) process.kill(left, 'SIGKILL');
});

test('files that another user can have made are not trusted', async () => {
  const made = async () => {
    const { subject } = await detach('exit 7');
    await untilState(subject, 'ended');
    return { id: subject.id, place: placeOf(subject) };
  };
  const [torn, open, linked, piped, renamed, other, shared] = await Promise.all(
    Array.from({ length: 7 }, made),
  );
  if (!torn || !open || !linked || !piped || !renamed || !other || !shared) throw new Error('none');
  writeFileSync(recordIn(torn.place), readFileSync(recordIn(torn.place)).subarray(0, 40));
  chmodSync(recordIn(open.place), 0o644);
  renameSync(recordIn(linked.place), join(linked.place, 'elsewhere'));
  symlinkSync('elsewhere', recordIn(linked.place));
  rmSync(recordIn(piped.place));
  spawnSync('mkfifo', ['-m', '600', recordIn(piped.place)]);
  rmSync(recordIn(renamed.place));
  const late = Date.now() + 60_000;
  vi.spyOn(Date, 'now').mockImplementation(() => late);
  try {
    for (const { id } of [torn, open, linked, piped, renamed]) {
      expect(await stateOf(id)).toBe('lost');
    }
  } finally {
    vi.restoreAllMocks();
  }
  // Of what was asked nothing is known then; the end is.
  writeFileSync(join(other.place, 'task.json'), '{"version":1,"command":7}');
  expect((await listTasks()).find(({ id }) => id === other.id)).toMatchObject({
    state: 'ended',
    command: '',
    outcome: { kind: 'exited', exitCode: 7 },
    trouble: expect.stringMatching(/task\.json\) can't be read: command: not what was written$/),
  });
  chmodSync(shared.place, 0o755);
  expect(await stateOf(shared.id)).toBeUndefined();
  expect(String(await failureOf(follow(shared.id)))).toMatch(/^InputError: id: /);
  mkdirSync(join(tasks.home(), 'background-1-link'), { mode: 0o700 });
  symlinkSync(renamed.place, join(tasks.home(), 'background-2-link2'));
  expect(await stateOf('link2')).toBeUndefined();
});

test("an output that was put in place of the command's own is not read", async () => {
  const subject = await tasks.start('echo mine');
  await untilState(subject, 'ended');
  rmSync(subject.outputFile);
  symlinkSync('/etc/hostname', subject.outputFile);
  expect(await failureOf(subject.read(0, 100))).toMatchObject({ code: 'ELOOP' });
  rmSync(subject.outputFile);
  expect(await subject.read(0, 100)).toEqual({ bytes: Buffer.alloc(0), from: 0, total: 0 });
});

test('another user can neither list nor reach a task', where(ROOT), async () => {
  const subject = await tasks.start(longSleep(365));
  const place = placeOf(subject);
  // As far in as it can be let without being changed itself.
  for (const path of [tasks.folder.path, tasks.home(), place]) chmodSync(path, 0o755);
  const from = publicCopy(tasks.folder.file('public'));
  const under = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
  const env = { TMPDIR: tasks.folder.path };
  const other = await runHost<{ tasks: unknown; error?: string }>('tasks', {
    args: [subject.id],
    under,
    from,
    env,
  });
  expect(other).toEqual({ tasks: [], error: expect.stringMatching(/^InputError: id: /) });
  const script = `require('net').connect(${JSON.stringify(join(place, 'output.socket'))})
    .on('error', ({ code }) => console.log(code)).on('connect', () => console.log('connected'))
    .on('data', () => console.log('heard')).on('close', () => console.log('closed'))`;
  // Bun tells of no connection that is closed at once.
  const [program = '', ...flags] = [...under, 'node', '-e', script];
  const reach = () => spawnSync(program, flags, { encoding: 'utf8', timeout: 10_000 }).stdout;
  expect(reach()).toBe('EACCES\nclosed\n');
  // Even where the file lets everybody in, the keeper does not.
  chmodSync(join(place, 'output.socket'), 0o666);
  expect(reach()).toBe('connected\nclosed\n');
  for (const path of [place, tasks.home()]) chmodSync(path, 0o700);
  expect(await stateOf(subject.id)).toBe('running');
});

test('a client that never reads, and one that breaks the protocol, do not block others', async () => {
  const subject = await tasks.start(longSleep(366));
  const path = join(placeOf(subject), 'output.socket');
  const deaf = connect(path).pause();
  deaf.on('error', () => {});
  // `who`, a thousand times.
  const who = Buffer.from('1000000001000000000000000100000000000000', 'hex');
  deaf.write(Buffer.concat(Array.from({ length: 1000 }, () => who)));
  const mad = connect(path);
  const closed = new Promise((resolve) => mad.on('error', () => {}).on('close', resolve));
  mad.resume().write(Buffer.alloc(100, 0xff));
  await closed;
  expect(await subject.members()).toHaveLength(1);
  await subject.end(0);
  expect(subject.state.kind).toBe('ended');
  deaf.destroy();
});

test('a client beyond the limit of connections reads the state from the record', async () => {
  const subject = await tasks.start(longSleep(373));
  const path = join(placeOf(subject), 'output.socket');
  const crowd = Array.from({ length: 70 }, () =>
    connect(path)
      .resume()
      .on('error', () => {}),
  );
  await eventually(() => expect(crowd.some(({ closed }) => closed)).toBe(true));
  expect(await stateOf(subject.id)).toBe('running');
  expect(await subject.members()).toHaveLength(1);
  for (const visitor of crowd) visitor.destroy();
});
