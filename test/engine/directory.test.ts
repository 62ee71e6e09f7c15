import { chmodSync, copyFileSync, mkdirSync, realpathSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run, spawn } from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { type HostAnswer, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { exited, failureOf, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();

test('the directory is reported when requested, however the streams are kept', async () => {
  const options = { cwd: folder.path, followDirectory: true } as const;
  expect(await run('cd /usr; exit 3', options)).toMatchObject({
    outcome: exited(3),
    directory: '/usr',
  });
  const apart = await run('cd /; exec true', { ...options, streams: 'separate' });
  expect(apart.directory).toBe('/');
  const live = await spawn('cd /usr; kill -9 $$', options);
  expect((await live.result).directory).toBe('/usr');
});

test('the directory is not reported unless requested', async () => {
  expect(await run('cd /usr')).not.toHaveProperty('directory');
  expect(await run('cd /usr', { followDirectory: false })).not.toHaveProperty('directory');
});

test('the directory is reported with a spill file too', async () => {
  const spill = folder.file('spill');
  const result = await run('cd /usr; echo kept', { followDirectory: true, spill });
  expect(result).toMatchObject({ directory: '/usr', spill: { path: spill, bytes: 5 } });
});

test('a value that is neither true nor false is refused', async () => {
  const options = { followDirectory: 'yes' as unknown as boolean };
  expect(String(await failureOf(run('true', options)))).toContain(
    'followDirectory: expected true or false, got "yes"',
  );
});

test('the directories of a hundred commands at once are kept apart, and none leaves a thread', async () => {
  const results = Array.from({ length: 100 }, async (_, index) => {
    const path = folder.file(`many-${index}`);
    mkdirSync(path);
    const result = await run(`sleep .05; cd '${path}'`, { followDirectory: true });
    return result.directory === path;
  });
  expect(await Promise.all(results)).toEqual(results.map(() => true));
});

const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

/** Runs a command as a user who may not do everything. */
async function runAsNobody(command: string, options: object): Promise<HostAnswer> {
  const host = startHost('commands', { under: asNobody });
  const answer = await host.run(command, options);
  host.child.kill('SIGKILL');
  await host.ended;
  return answer;
}

test('programs with privileges of their own keep them', where(ROOT), async () => {
  chmodSync(folder.path, 0o755);
  const program = folder.file('whoami');
  copyFileSync(realpathSync('/usr/bin/id'), program);
  chmodSync(program, 0o4755);
  const options = { cwd: folder.path, followDirectory: true };
  const expected = (await runAsNobody('./whoami -u', { cwd: folder.path })).result;
  if (expected === undefined || printed(expected) !== '0\n') return;
  for (const shell of [['/bin/bash'], ['/bin/sh']]) {
    for (const command of [
      './whoami -u',
      'cd .; ./whoami -u',
      '(./whoami -u)',
      'true && ./whoami -u',
    ]) {
      const { result } = await runAsNobody(command, { ...options, shell });
      expect(result && printed(result), `${shell}: ${command}`).toBe('0\n');
    }
  }
});

test('a directory that cannot be entered is not reported', where(ROOT), async () => {
  chmodSync(folder.path, 0o755);
  mkdirSync(folder.file('closed'), { mode: 0o700 });
  const { result } = await runAsNobody('cd closed; pwd', {
    cwd: folder.path,
    followDirectory: true,
  });
  expect(result?.directory).toBe(folder.path);
  const refused = await runAsNobody('pwd', { cwd: folder.file('closed'), followDirectory: true });
  expect(refused.error).toMatchObject({ name: 'LaunchError', step: 'directory', code: 'EACCES' });
});

test('a followed command ends with a host that is killed', async () => {
  const host = startHost('commands');
  const command = `cd /usr; ${longSleep(308)}`;
  void host.run(command, { followDirectory: true }).catch(() => {});
  await eventually(() => expect(sleeping(308)).toHaveLength(1));
  host.child.kill('SIGKILL');
  await host.ended;
  await eventually(() => expect(sleeping(308)).toEqual([]));
});
