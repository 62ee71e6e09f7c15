import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { attach, type DetachedSubject, detach, listTasks } from '../../src/index.js';
import { longSleep } from '../support/commands.js';
import { follow, untilState, useTasks } from '../support/detached-tasks.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';

leavesNothingBehind();
const tasks = useTasks();

const NAME = `forkline-${process.getuid?.()}`;
const placeOf = ({ outputFile }: DetachedSubject) => dirname(outputFile);

beforeEach(() => {
  vi.stubEnv('XDG_STATE_HOME', tasks.folder.path);
  vi.stubEnv('TMPDIR', tasks.folder.path);
});
afterEach(() => {
  vi.stubEnv('XDG_STATE_HOME', tasks.folder.path);
  vi.stubEnv('TMPDIR', tasks.folder.path);
});

test('T12: a task is found whatever TMPDIR says', async () => {
  const subject = await tasks.start(longSleep(375));
  expect(dirname(placeOf(subject))).toBe(join(tasks.folder.path, 'forkline'));
  const other = tasks.folder.file('other tmp');
  mkdirSync(other);
  vi.stubEnv('TMPDIR', other);
  expect((await listTasks()).map(({ id }) => id)).toContain(subject.id);
  expect((await attach(subject.id)).state).toBe('running');
  // And by a host of its own.
  const host = startHost('tasks', { args: [subject.id] });
  const { state } = await host.next<{ state: unknown }>();
  expect(state).toEqual({ kind: 'running' });
  await host.ended;
});

test('T6: the default is in the home, which is not made where it is missing', async () => {
  const home = tasks.folder.file('a home');
  mkdirSync(home);
  vi.stubEnv('XDG_STATE_HOME', '');
  vi.stubEnv('HOME', home);
  const inHome = await tasks.start('true');
  expect(dirname(placeOf(inHome))).toBe(join(home, '.local', 'state', 'forkline'));
  expect(statSync(join(home, '.local', 'state', 'forkline')).mode & 0o777).toBe(0o700);
  await untilState(inHome, 'ended');
  vi.stubEnv('HOME', join(home, 'missing'));
  const elsewhere = await tasks.start('true');
  expect(dirname(placeOf(elsewhere))).toBe(join(tasks.folder.path, NAME));
  expect(existsSync(join(home, 'missing'))).toBe(false);
  vi.stubEnv('HOME', '/');
  expect(dirname(placeOf(await tasks.start('true')))).toBe(join(tasks.folder.path, NAME));
  vi.stubEnv('HOME', process.env.HOME ?? userInfo().homedir);
});

test.each([
  ['a link', (path: string) => symlinkSync(tasks.folder.path, path)],
  ['open to others', (path: string) => mkdirSync(path, 0o755)],
  ['a file', (path: string) => mkdirSync(dirname(path), { recursive: true })],
])('a directory that is %s is neither used nor trusted', async (what, make) => {
  const state = tasks.folder.file(`state ${what}`);
  mkdirSync(state);
  if (what === 'a file') symlinkSync('/dev/null', join(state, 'forkline'));
  else make(join(state, 'forkline'));
  const before = (await listTasks()).length;
  expect(before).toBeGreaterThanOrEqual(0);
  vi.stubEnv('XDG_STATE_HOME', state);
  const subject = await tasks.start('true');
  expect(dirname(placeOf(subject))).toBe(join(tasks.folder.path, NAME));
  const seen = await listTasks();
  expect(seen.every(({ outputFile }) => outputFile.includes(`/${NAME}/`))).toBe(true);
});

test("another user's home is not written to", where(ROOT), async () => {
  const home = tasks.folder.file('theirs');
  mkdirSync(home);
  chownSync(home, 65534, 65534);
  vi.stubEnv('XDG_STATE_HOME', join(home, 'state'));
  const subject = await tasks.start('true');
  expect(dirname(placeOf(subject))).toBe(join(tasks.folder.path, NAME));
  expect(readdirSync(home)).toEqual([]);
});

test('tasks that an earlier version has put into the temporary directory are found', async () => {
  const [running, ended] = [await tasks.start(longSleep(376)), (await detach('exit 4')).subject];
  await untilState(ended, 'ended');
  mkdirSync(join(tasks.folder.path, NAME), { recursive: true, mode: 0o700 });
  const other = tasks.folder.file('new state');
  for (const subject of [running, ended]) {
    const place = placeOf(subject);
    renameSync(place, join(tasks.folder.path, NAME, basename(place)));
  }
  vi.stubEnv('XDG_STATE_HOME', other);
  const states = new Map((await listTasks()).map(({ id, state }) => [id, state]));
  expect([states.get(running.id), states.get(ended.id)]).toEqual(['running', 'ended']);
  const found = await follow(running.id);
  expect(await found.members()).toHaveLength(1);
  await found.end(0);
  expect(existsSync(other)).toBe(false);
});

test('T18: a task is found among thousands of others, which are quick to list', async () => {
  const subject = await tasks.start('true');
  await untilState(subject, 'ended');
  const home = dirname(placeOf(subject));
  const until = basename(placeOf(subject)).split('-')[1];
  // The keeper is about to remove its socket.
  const names = readdirSync(placeOf(subject)).filter((name) => name !== 'output.socket');
  for (let count = 0; count < 2000; count += 1) {
    const copy = join(home, `background-${until}-x${count}`);
    mkdirSync(copy, { mode: 0o700 });
    for (const name of names) copyFileSync(join(placeOf(subject), name), join(copy, name));
  }
  try {
    const began = performance.now();
    expect((await listTasks()).length).toBeGreaterThan(2000);
    const listed = performance.now() - began;
    const start = performance.now();
    expect((await attach('x77')).state).toBe('ended');
    const found = performance.now() - start;
    // Of each of them a file or two is read; of one of them, a few.
    expect(listed).toBeLessThan(20_000);
    expect(found).toBeLessThan(Math.max(100, listed / 5));
  } finally {
    for (const name of readdirSync(home)) {
      if (/-x\d+$/.test(name)) rmSync(join(home, name), { recursive: true });
    }
  }
});
