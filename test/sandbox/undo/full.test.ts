import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namespaces, startHost } from '../../support/hosts.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import { useUndone } from './undone.js';

// What can't be kept: the change is made and told, or refused as on a full disk.
leavesNothingBehind(3);
const make = useUndone();
const folders = useFolders();

const SETUP =
  'head -c 100000 /dev/zero | tr "\\0" x >large; echo small >small; mkdir d; echo 1 >d/f';
const COMMAND = 'echo after >small; echo after >large; mv d there; echo made >made';

test('what is beyond maxBytes is changed, told as lost, and the rest is put back', async () => {
  const undone = await make(SETUP);
  const { changes, text } = await undone.run(COMMAND, { maxBytes: 20_000 });
  expect(text).toBe('');
  const large = join(undone.path, 'large');
  expect(changes.unrevertable.map(({ path }) => path)).toEqual([large]);
  const told = await changes.revert();
  expect(told.conflicts).toEqual([]);
  expect(told.lost.map(({ path }) => path)).toEqual([large]);
  expect(readFileSync(large, 'utf8')).toBe('after\n');
  const others = (await undone.differences()).filter((line) => !line.startsWith('"large"'));
  expect(others).toEqual([]);
});

test('what is beyond maxBytes is refused where that was asked for', async () => {
  const undone = await make(SETUP);
  const command = `${COMMAND}; rm large; mv -f small large; truncate -s 0 large`;
  const undo = { maxBytes: 20_000, whenFull: 'refuse' } as const;
  const { changes, text } = await undone.run(command, undo);
  expect(text).toContain('No space left on device');
  expect(readFileSync(join(undone.path, 'large')).length).toBe(100_000);
  expect(changes).toMatchObject({ complete: true, unrevertable: [] });
  expect(await changes.revert()).toMatchObject({ conflicts: [], lost: [] });
  expect(await undone.differences()).toEqual([]);
});

test('with no byte to keep, nothing is changed that could not be put back', async () => {
  const undone = await make(SETUP);
  const { changes } = await undone.run(COMMAND, { maxBytes: 0, whenFull: 'refuse' });
  await changes.revert();
  expect(await undone.differences()).toEqual([]);
});

/** Runs a command in a host whose directory for journals lies on a disk of so many kilobytes. */
async function onSmallDisk(kilobytes: number, undo: object, command: string) {
  const state = folders();
  const cwd = folders();
  writeFileSync(join(cwd, 'large'), 'x'.repeat(300_000));
  mkdirSync(join(cwd, 'd'));
  const mount = `mount -t tmpfs -o size=${kilobytes}k,mode=700 none ${state} && exec "$@"`;
  const host = startHost('commands', {
    under: namespaces('-m', 'sh', '-c', mount, 'sh'),
    env: { XDG_STATE_HOME: state },
  });
  const sandbox = { mode: 'workspace-write', undo };
  const { result, error } = await host.run(command, { cwd, sandbox });
  host.child.stdin?.end();
  await host.ended;
  if (result === undefined) throw new Error(error?.message);
  return { result, cwd };
}

test('a full disk: changes are made, and told as those that can not be put back', async () => {
  const { result, cwd } = await onSmallDisk(64, {}, 'echo new >large; rmdir d; echo m >made');
  expect(result.outcome).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(cwd, 'large'), 'utf8')).toBe('new\n');
  expect(existsSync(join(cwd, 'd'))).toBe(false);
  const { changes } = result;
  const isTold = changes?.complete === false || (changes?.unrevertable.length ?? 0) > 0;
  expect(isTold, JSON.stringify(changes)).toBe(true);
});

test('a full disk: changes are refused where that was asked for', async () => {
  const undo = { whenFull: 'refuse' };
  const { result, cwd } = await onSmallDisk(64, undo, 'echo new >large; echo status $?');
  expect(readFileSync(join(cwd, 'large')).length).toBe(300_000);
  expect(JSON.stringify(result.output)).toContain('status 1');
});
