import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { namespaces, runHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { need, ROOT, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';

// A host that has given something up, or was kept from something, runs a command: never with what it
// had before. What it had started goes on with that.
leavesNothingBehind();
const folder = useFolder();
const isRoot = process.getuid?.() === 0;
const FREEZER = '/sys/fs/cgroup/freezer';

interface Told {
  readonly before: string;
  readonly after: string;
  /** By a command that was started before. */
  readonly running: string;
}

/** What a host makes goes with the folder, whoever has made it. */
const temporary = () => ({ TMPDIR: folder.path });

// With mounts of its own, which go with it.
const ownMounts = isRoot ? namespaces('-m') : [];

async function tell(how: string, under = ownMounts, ...where: string[]): Promise<Told> {
  const told = await runHost<Told>('identity', { args: [how, ...where], under, env: temporary() });
  expect(told.running).toBe(told.before);
  return told;
}

beforeAll(() => {
  chmodSync(folder.path, 0o1777);
  const source = fileURLToPath(new URL('../support/deny.c', import.meta.url));
  execFileSync('cc', ['-o', folder.file('deny'), source]);
});

/** Filtered already, so that another filter shows in their number alone. */
const filtered = () => [folder.file('deny'), 'EPERM', 'memfd_create', '--'];
const withoutProc = () =>
  namespaces('-m', 'sh', '-c', 'mount --bind "$0" /proc && exec "$@"', folder.path);

describe('rights that a host gives up are lost for its commands, too', () => {
  test.each([
    ['users', 'id -u: 65534, id -g: 65534, id -G: 65534 7'],
    ['groups', 'id -u: 0, id -g: 0, id -G: 0 4711'],
  ])('%s', where(ROOT), async (how, expected) => {
    const { before, after } = await tell(how);
    expect(before).toMatch(/^id -u: 0,/);
    expect(after).toBe(expected);
  });

  test('even with many commands waiting, which run with the old rights', where(ROOT), async () => {
    const groups = await runHost('identity', { args: ['burst'], env: temporary() });
    expect(groups).toEqual({ burst: ['0'], after: '0 4711' });
  });

  test('the user of one thread, and of no other', where(ROOT), async () => {
    const users = await runHost<string[]>('identity', { args: ['worker'], env: temporary() });
    expect(users).toEqual(['0', '65534', '0', '65534', '0', '65534', '0']);
  });

  test('capabilities of the bounding set', where(ROOT), async () => {
    const { before, after } = await tell('capabilities');
    const [had, has] = [before, after].map((set) => BigInt(`0x${set}`));
    expect(had).toBe((has ?? 0n) | (1n << 10n));
  });

  test('ambient capabilities', where(ROOT), async () => {
    const caps = ['--inh-caps=+chown', '--ambient-caps=+chown'];
    const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...caps];
    const { before, after } = await tell('ambient', user);
    expect([before, after].map((set) => Number(`0x${set}`))).toEqual([1, 0]);
  });

  test('to gain privileges', async () => {
    expect(await tell('privileges')).toMatchObject({ before: '0', after: '1' });
  });

  test('its keyring', where(ROOT), async () => {
    const { before, after } = await tell('keyring');
    expect(after).not.toBe(before);
  });
});

describe("a host's restrictions also hold for its commands", () => {
  const denied = { before: 'may', after: 'may not' };

  test('by a filter', async () => {
    expect(await tell('filter')).toMatchObject(denied);
  });

  test('by one more filter', async () => {
    expect(await tell('filter', filtered())).toMatchObject(denied);
  });

  test('by one more filter, with no /proc to see it in', async () => {
    expect(await tell('filter', [...withoutProc(), ...filtered()])).toMatchObject(denied);
  });

  test(
    'by Landlock, which cannot be detected',
    where(need(hasLandlock(), 'no Landlock in this kernel')),
    async () => {
      const { before, after } = await tell('landlock', ['setpriv', '--no-new-privs']);
      expect({ before, after }).toEqual(denied);
    },
  );
});

/** Whether this kernel lets a process confine itself so. */
function hasLandlock(): boolean {
  try {
    return (
      execFileSync('perl', ['-e', 'print syscall(444, 0, 0, 1) > 0'], { encoding: 'utf8' }) === '1'
    );
  } catch {
    return false;
  }
}

describe("a host's namespaces are those of its commands", () => {
  test('another root', where(ROOT), async () => {
    expect(await tell('root')).toMatchObject({ before: 'outside', after: 'inside' });
  });

  test.each(['mounts', 'network'])('other %s', where(ROOT), async (how) => {
    const { before, after } = await tell(how);
    expect(after).not.toBe(before);
  });

  test('another name of the machine, with and without /proc', where(ROOT), async () => {
    expect((await tell('name')).after).toBe('given-up');
    expect((await tell('name', withoutProc())).after).toBe('given-up');
  });

  test(
    'another cgroup',
    where(ROOT, need(existsSync(FREEZER), `there is no ${FREEZER}`)),
    async () => {
      const cgroup = `${FREEZER}/forkline-test-${process.pid}`;
      expect(await tell('cgroup', [], cgroup)).toMatchObject({ before: '0', after: '1' });
      await eventually(() => rmdirSync(cgroup));
    },
  );

  test('another directory', async () => {
    expect(await tell('directory')).toMatchObject({ before: '/', after: '/usr' });
  });
});

describe("a host's settings are those of its commands", () => {
  test.each([
    ['attributes', '0022 0', '0077 7'],
    ['disk', 'none: prio 0', 'idle'],
    ['layout', '00000000', '00040000'],
  ])('%s', async (how, before, after) => {
    expect(await tell(how)).toMatchObject({ before, after });
  });

  test('limits', async () => {
    expect((await tell('limits')).after).toBe('77');
  });

  test('processors', async () => {
    expect((await tell('processors')).after).toBe('1');
  });

  test('its scheduling policy', async () => {
    expect(await tell('policy')).toMatchObject({ before: 'SCHED_OTHER', after: 'SCHED_BATCH' });
  });
});
