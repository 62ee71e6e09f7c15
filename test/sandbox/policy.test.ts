import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { InputError, run } from '../../src/index.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { describeForAll, makeScene, people, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const [somebody] = people;

test.each([
  ['strict', 'sandbox'],
  [{ mode: 'none' }, 'sandbox.mode'],
  [{ network: true }, 'sandbox.network'],
  [{ network: {} }, 'sandbox.network.allowedDomains'],
  [{ network: { allowedDomains: ['http://x'] } }, 'sandbox.network.allowedDomains'],
  [{ network: { allowedDomains: [], deny: [] } }, 'sandbox.network.deny'],
  [{ processes: 'all' }, 'sandbox.processes'],
  [{ require: 'namespaces' }, 'sandbox.require'],
  [{ settings: 'ask' }, 'sandbox.settings'],
  [{ settings: 'judge', require: 'landlock' }, 'sandbox.settings'],
  [{ settings: 'judge', mode: 'danger-full-access' }, 'sandbox.settings'],
  [{ settings: 'judge', filesystem: { denyWrite: ['x'] } }, 'sandbox.settings'],
  [{ caches: 'private', require: 'landlock' }, 'sandbox.caches'],
  [{ caches: { maxBytes: 1 }, require: 'landlock' }, 'sandbox.caches'],
  [{ filesystem: 'none' }, 'sandbox.filesystem'],
  [{ filesystem: { allowWrite: '/x' } }, 'sandbox.filesystem.allowWrite'],
  [{ filesystem: { denyRead: [''] } }, 'sandbox.filesystem.denyRead'],
  [{ filesystem: { tmp: 'none' } }, 'sandbox.filesystem.tmp'],
  [{ filesystem: { write: [] } }, 'sandbox.filesystem.write'],
  [{ allowUnixSockets: [5] }, 'sandbox.allowUnixSockets'],
  [{ modes: 'x' }, 'sandbox.modes'],
])('a policy such as %j is refused by the name of the invalid field', async (sandbox, name) => {
  const wrong = run('true', { sandbox: sandbox as 'read-only' });
  await expect(wrong).rejects.toThrow(InputError);
  await expect(wrong).rejects.toThrow(new RegExp(`^${name}\\b`));
});

test('the root directory is no workspace', async () => {
  const wrong = run('true', { cwd: '/', sandbox: 'workspace-write' });
  await expect(wrong).rejects.toThrow(InputError);
});

describeForAll('%s', (person) => {
  const scene = () => makeScene(scenes.path, person);

  test('has a loopback, temporary directories and a process tree of its own', async () => {
    const place = scene();
    const command = `touch /tmp/a /run/b /dev/shm/c /var/tmp/d 2>&1; ls /tmp | wc -l
      /usr/bin/python3 -c "
import socket
s = socket.create_server(('127.0.0.1', 0))
c = socket.create_connection(s.getsockname())
print('loopback', c.getpeername()[0])"
      ps -e -o comm= | grep -cx node; echo $$`;
    const { text, result } = await runAs(person, place, command, {
      cwd: place.work,
      sandbox: 'workspace-write',
    });
    expect(text).toContain('loopback 127.0.0.1');
    expect(text).toMatch(/\n0\n\d{1,3}\n$/);
    // As the host knows it.
    expect(result.pid).toBeGreaterThan(1);
    expect(result.sandbox?.enforced).toEqual({
      write: 'namespace',
      read: 'namespace',
      tmp: 'namespace',
      network: 'namespace',
      unixSockets: 'seccomp',
      processes: 'namespace',
      socketFamilies: 'seccomp',
      privileges: 'namespace',
      settings: 'gate',
      caches: 'overlay',
      undo: 'none',
    });
  });

  test('writes nowhere in a read-only sandbox but to its temporary directories', async () => {
    const place = scene();
    const command = `cat .vscode/settings.json; echo x > new; echo y > /tmp/x && cat /tmp/x`;
    const { text } = await runAs(person, place, command, { cwd: place.work, sandbox: 'read-only' });
    expect(text).toMatch(/^\{\}\n.*Read-only file system\ny\n$/s);
    expect(existsSync(`${place.work}/new`)).toBe(false);
  });

  test.each(['private', 'shared'])(
    'a workspace among temporary files is writable, and so are directories below it (tmp: %s)',
    async (tmp) => {
      const { home } = scene();
      const work = mkdtempSync('/tmp/forkline-workspace-');
      onTestFinished(() => rmSync(work, { recursive: true }));
      mkdirSync(`${work}/sub`);
      if (person === 'an ordinary user') execFileSync('chown', ['-R', '65534:65534', work]);
      const command = 'echo in > new && cat new && pwd';
      for (const cwd of [work, `${work}/sub`]) {
        const sandbox = { workspace: work, filesystem: { tmp } };
        const { text } = await runAs(person, { home }, command, { cwd, sandbox });
        expect(text).toBe(`in\n${cwd}\n`);
        expect(existsSync(`${cwd}/new`)).toBe(true);
        const readOnly = { mode: 'read-only', filesystem: { tmp: 'private' } };
        const seen = await runAs(person, { home }, `cat new; echo x > new`, {
          cwd,
          sandbox: readOnly,
        });
        expect(seen.text).toMatch(/^in\n.*Read-only file system\n$/s);
      }
    },
  );

  test('of two matching paths, the longer decides', async () => {
    const { home, work, outside } = scene();
    mkdirSync(`${outside}/deep/deeper`, { recursive: true });
    writeFileSync(`${outside}/deep/deeper/file`, 'shown\n');
    writeFileSync(`${outside}/deep/hidden`, 'the secret key\n');
    if (person === 'an ordinary user') execFileSync('chown', ['-R', '65534:65534', outside]);
    const sandbox = {
      filesystem: {
        allowWrite: [outside],
        denyWrite: [`${outside}/file`],
        denyRead: [`${outside}/deep`],
        allowRead: [`${outside}/deep/deeper`],
      },
    };
    const command = `cd ${outside}; echo 1 > new && echo 2 >> file; cat deep/hidden deep/deeper/file
      echo x > deep/deeper/file; ls -a deep; cat file`;
    const { text } = await runAs(person, { home }, command, { cwd: work, sandbox });
    expect(text).toMatch(/file: Read-only.*hidden: (No such|Permission).*shown\n.*Read-only/s);
    expect(text).not.toContain('secret');
    expect(readFileSync(`${outside}/new`, 'utf8')).toBe('1\n');
    expect(readFileSync(`${outside}/file`, 'utf8')).toBe('before\n');
  });

  test('of two rules for the same path, the stricter decides', async () => {
    const { home, work, outside } = scene();
    const filesystem = { allowWrite: [outside], denyWrite: [outside], denyRead: [], allowRead: [] };
    const command = `echo x > ${outside}/new; cat ${outside}/file`;
    const { text } = await runAs(person, { home }, command, { cwd: work, sandbox: { filesystem } });
    expect(text).toMatch(/Read-only file system\nbefore\n$/);
  });

  test('has none of the descriptors of its keeper', async () => {
    const place = scene();
    const command = 'ls /proc/self/fd | wc -l; ls -l /proc/self/fd | grep -c /proc$';
    const { text } = await runAs(person, place, command, { cwd: place.work, sandbox: 'read-only' });
    expect(text).toBe('4\n0\n');
  });

  test('shares with the host what the policy says', async () => {
    const place = scene();
    const sandbox = {
      network: 'full',
      processes: 'host',
      filesystem: { tmp: 'shared', denyRead: [] },
    };
    const command = `readlink /proc/self/ns/net /proc/self/ns/pid; cat ${place.home}/.ssh/id_rsa
      f=$(mktemp) && echo $f`;
    const { text, result } = await runAs(person, place, command, { cwd: place.work, sandbox });
    const own = execFileSync('readlink', ['/proc/self/ns/net', '/proc/self/ns/pid']).toString();
    const [, file = ''] = /(\/tmp\/\S+)\n$/.exec(text) ?? [];
    expect(text).toBe(`${own}the secret key\n${file}\n`);
    expect(existsSync(file)).toBe(true);
    execFileSync('rm', [file]);
    expect(result.sandbox?.enforced).toMatchObject({
      write: 'namespace',
      tmp: 'none',
      network: 'none',
      processes: 'none',
      socketFamilies: 'seccomp',
    });
  });

  test('a file that appears later is hidden from the next command', async () => {
    const { work, home } = scene();
    const command = `cat ${home}/.netrc || true`;
    const { text } = await runAs(person, { home }, command, { cwd: work, sandbox: 'read-only' });
    expect(text).toMatch(/No such file/);
    writeFileSync(`${home}/.netrc`, 'the secret key\n');
    const later = await runAs(person, { home }, command, { cwd: work, sandbox: 'read-only' });
    expect(later.text).toMatch(/Permission denied/);
  });
});

describe('files that a command has made give no rights to the next one', () => {
  test('a link where the policy allows a path in the workspace', async () => {
    const place = makeScene(scenes.path, somebody);
    const { work, outside } = place;
    symlinkSync(outside, `${work}/out`);
    const sandbox = { filesystem: { allowWrite: ['out'] } };
    await runAs(somebody, place, `echo x > out/new; echo x > ${outside}/new`, {
      cwd: work,
      sandbox,
    });
    expect(existsSync(`${outside}/new`)).toBe(false);
  });

  test("a .git file that names another's directory", async () => {
    const place = makeScene(scenes.path, somebody);
    const { work, outside } = place;
    execFileSync('rm', ['-rf', `${work}/.git`]);
    execFileSync('git', ['init', '-q', `${outside}/repo`]);
    mkdirSync(`${outside}/repo/.git/worktrees/other`, { recursive: true });
    for (const target of [
      outside,
      `${outside}/repo/.git`,
      `${outside}/repo/.git/worktrees/other`,
    ]) {
      writeFileSync(`${work}/.git`, `gitdir: ${target}\n`);
      const { text } = await runAs(somebody, place, `echo x > ${target}/new`, {
        cwd: work,
        sandbox: 'workspace-write',
      });
      expect(text).toMatch(/Read-only file system/);
      expect(existsSync(`${target}/new`)).toBe(false);
    }
  });

  test('a worktree counts if it and its git directory name each other', async () => {
    const place = makeScene(scenes.path, somebody);
    const { work, outside } = place;
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: outside });
    git('init', '-q', 'repo');
    git('-C', 'repo', 'commit', '-q', '--allow-empty', '-m', 'first');
    git('-C', 'repo', 'worktree', 'add', '-q', `${work}/tree`);
    const command = `echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm second &&
      git log --format=%s; echo x > ${outside}/repo/.git/hooks/x; echo x > ${outside}/repo/new`;
    const { text } = await runAs(somebody, place, command, {
      cwd: `${work}/tree`,
      sandbox: 'workspace-write',
    });
    expect(text).toMatch(/^second\nfirst\n.*Read-only/s);
    // The hook is held back, and its writer sees no error.
    expect([`${outside}/repo/.git/hooks/x`, `${outside}/repo/new`].filter(existsSync)).toEqual([]);
  });
});
