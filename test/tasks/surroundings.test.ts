import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { detach, listTasks, type TaskSummary } from '../../src/index.js';
import { readRecord } from '../../src/tasks/detached/place/record.js';
import { longSleep, sleeping } from '../support/commands.js';
import { follow, untilState, useTasks } from '../support/detached-tasks.js';
import { asOneself, namespaces, runHost, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';

leavesNothingBehind();
const tasks = useTasks();

const stateOf = async (id: string) => (await listTasks()).find((task) => task.id === id)?.state;

test(
  'without a usable /proc a task is found, followed and ended all the same',
  where(ROOT),
  async () => {
    const mount = 'mount -t tmpfs none /proc && exec "$@"';
    const under = namespaces('-m', 'sh', '-c', mount, 'sh');
    const host = startHost('detach', { under, env: { TMPDIR: tasks.folder.path } });
    host.child.stdin?.write(`${JSON.stringify({ command: longSleep(368) })}\n`);
    const { id } = await host.next<{ id: string }>();
    tasks.note(id);
    host.child.stdin?.end();
    await host.ended;
    const env = { TMPDIR: tasks.folder.path };
    const report = await runHost<{ tasks: readonly TaskSummary[]; state: unknown }>('tasks', {
      args: [id],
      under,
      env,
    });
    expect(report.tasks.find((task) => task.id === id)?.state).toBe('running');
    expect(report.state).toEqual({ kind: 'running' });
    const subject = await follow(id);
    expect(await subject.members()).toHaveLength(1);
    await subject.end();
    expect(subject.state.kind).toBe('ended');
  },
);

test("without a socket the record has the task's state, and it can be ended", async () => {
  const deny = tasks.folder.file('deny');
  const source = fileURLToPath(new URL('../support/deny.c', import.meta.url));
  execFileSync(process.env.CC?.split(' ')[0] || 'cc', ['-o', deny, source]);
  const host = startHost('detach', {
    under: [deny, 'EPERM', 'bind', '--'],
    env: { TMPDIR: tasks.folder.path },
  });
  const start = async (command: string) => {
    host.child.stdin?.write(`${JSON.stringify({ command })}\n`);
    return (await host.next<{ id: string }>()).id;
  };
  const [running, ended] = [await start(longSleep(372)), await start('exit 3')];
  expect(await stateOf(running)).toBe('running');
  await eventually(async () => expect(await stateOf(ended)).toBe('ended'));
  const subject = await follow(running);
  const seen = new Promise<void>((resolve) => subject.watch(resolve));
  expect(await subject.members()).toBeUndefined();
  await subject.end();
  await seen;
  expect(subject.state.kind).toBe('ended');
  host.child.stdin?.end();
  await host.ended;
});

test('a directory with a long name has room for the socket', async () => {
  const place = tasks.folder.file('x'.repeat(200));
  mkdirSync(place);
  vi.stubEnv('XDG_STATE_HOME', place);
  try {
    const { subject } = await detach('read a; exit 8', { stdin: 'pipe' });
    await subject.write(Buffer.from('\n'));
    await untilState(subject, 'ended');
    expect(await stateOf(subject.id)).toBe('ended');
  } finally {
    vi.stubEnv('XDG_STATE_HOME', tasks.folder.path);
  }
});

/** A host with a small disk of its own, and where that is for everybody else. */
function startOnSmallDisk(kilobytes: number) {
  const disk = tasks.folder.file(`disk-${kilobytes}`);
  mkdirSync(disk);
  const mount = `mount -t tmpfs -o size=${kilobytes}k none ${disk} && exec "$@"`;
  const under = [...namespaces('-m', 'sh', '-c', mount, 'sh'), ...asOneself()];
  const host = startHost('detach', { under, env: { TMPDIR: disk, XDG_STATE_HOME: disk } });
  return { host, disk, seen: `/proc/${host.child.pid}/root${disk}` };
}

test.each([4, 12])(
  'on a disk with room for %d KB nothing is started, and no directory is left',
  async (kilobytes) => {
    const { host, disk, seen } = startOnSmallDisk(kilobytes);
    host.child.stdin?.write(`${JSON.stringify({ command: `mkdir ${disk}/ran` })}\n`);
    const { error = '' } = await host.next<{ error?: string }>();
    expect(error).toMatch(/ENOSPC|cannot make its record: No space left on device/);
    expect(readdirSync(seen)).toEqual(['forkline']);
    expect(readdirSync(join(seen, 'forkline'))).toEqual([]);
    host.child.stdin?.end();
    await host.ended;
  },
);

test("D7: a task's end is recorded on a disk that it has filled", async () => {
  const { host, disk, seen } = startOnSmallDisk(64);
  const command = `head -c 300000 /dev/zero; ${longSleep(369)} & cat /dev/zero >${disk}/other; exit 9`;
  host.child.stdin?.write(`${JSON.stringify({ command })}\n`);
  const { outputFile } = await host.next<{ outputFile: string }>();
  const place = dirname(outputFile).replace(disk, seen);
  const stage = async () => (await readRecord(place))?.stage;
  await eventually(async () => {
    expect(await stage()).toMatchObject({ kind: 'left', end: { status: 9, totalLeft: 1 } });
  });
  for (const left of sleeping(369)) process.kill(left, 'SIGKILL');
  await eventually(async () => expect(await stage()).toMatchObject({ kind: 'ended' }));
  host.child.stdin?.end();
  await host.ended;
});
