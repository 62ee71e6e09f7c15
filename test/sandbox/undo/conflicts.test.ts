import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reverted } from '../../../src/index.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { useUndone } from './undone.js';

// What the user does after the command is the user's: it is told as a conflict, and the rest is put back.
leavesNothingBehind(1);
const make = useUndone();

const SETUP =
  'mkdir d e; for n in a b c d/x d/y e/z; do echo "$n before" >$n; done; ln a a2; ln -s a l';
const COMMAND =
  'echo after >a; rm b; echo after >>c; mkdir made; echo made >made/m; mv d there; rm -r e; chmod 600 there/y';

/** An edit after the command: which paths it keeps from being put back, and what proves that it stays. */
interface Edit {
  readonly title: string;
  readonly edit: (at: (name: string) => string) => void;
  /** The paths of which a conflict must be told: one of them, at least. */
  readonly conflicts: readonly string[];
  readonly stays: (at: (name: string) => string) => boolean;
}

const text = (path: string) => readFileSync(path, 'utf8');

const EDITS: readonly Edit[] = [
  {
    title: 'a changed file is written to in place',
    edit: (at) => writeFileSync(at('a'), 'mine\n'),
    conflicts: ['a', 'a2'],
    stays: (at) => text(at('a')) === 'mine\n',
  },
  {
    title: 'a changed file is written to in place, with its time as it was',
    edit: (at) => {
      const { atime, mtime } = lstatSync(at('c'));
      writeFileSync(at('c'), 'c before\nmined\n');
      utimesSync(at('c'), atime, mtime);
    },
    conflicts: ['c'],
    stays: (at) => text(at('c')) === 'c before\nmined\n',
  },
  {
    title: 'a changed file is replaced',
    edit: (at) => {
      writeFileSync(at('c.tmp'), 'mine\n');
      renameSync(at('c.tmp'), at('c'));
    },
    conflicts: ['c'],
    stays: (at) => text(at('c')) === 'mine\n',
  },
  {
    title: 'a changed file is removed',
    edit: (at) => unlinkSync(at('c')),
    conflicts: ['c'],
    stays: (at) => !existsSync(at('c')),
  },
  {
    title: 'a changed file is renamed',
    edit: (at) => renameSync(at('c'), at('c-mine')),
    conflicts: ['c', 'c-mine'],
    stays: (at) => text(at('c-mine')) === 'c before\nafter\n',
  },
  {
    title: 'a changed file gets another mode',
    edit: (at) => chmodSync(at('c'), 0o640),
    conflicts: ['c'],
    stays: (at) => (lstatSync(at('c')).mode & 0o777) === 0o640,
  },
  {
    title: 'a removed file is made again',
    edit: (at) => writeFileSync(at('b'), 'mine\n'),
    conflicts: ['b'],
    stays: (at) => text(at('b')) === 'mine\n',
  },
  {
    title: 'a removed file is made again as a directory, with a file',
    edit: (at) => {
      mkdirSync(at('b'));
      writeFileSync(at('b/mine'), 'mine\n');
    },
    conflicts: ['b'],
    stays: (at) => text(at('b/mine')) === 'mine\n',
  },
  {
    title: 'a removed directory is made again as a link',
    edit: (at) => symlinkSync('d', at('e')),
    conflicts: ['e', 'e/z'],
    stays: (at) => lstatSync(at('e')).isSymbolicLink(),
  },
  {
    title: 'a file is made in a directory that the command made',
    edit: (at) => writeFileSync(at('made/mine'), 'mine\n'),
    conflicts: ['made', 'made/mine', 'made/m'],
    stays: (at) => text(at('made/mine')) === 'mine\n',
  },
  {
    title: 'a file that the command made is changed',
    edit: (at) => writeFileSync(at('made/m'), 'mine\n'),
    conflicts: ['made', 'made/m'],
    stays: (at) => text(at('made/m')) === 'mine\n',
  },
  {
    title: 'a file that the command made gets another name elsewhere',
    edit: (at) => renameSync(at('made/m'), at('mine')),
    conflicts: ['made', 'made/m', 'mine'],
    stays: (at) => text(at('mine')) === 'made\n',
  },
  {
    title: 'a renamed directory is renamed again',
    edit: (at) => renameSync(at('there'), at('mine')),
    conflicts: ['d', 'there', 'mine'],
    stays: (at) => existsSync(at('mine/x')),
  },
  {
    title: 'something is made where a renamed directory was',
    edit: (at) => {
      mkdirSync(at('d'));
      writeFileSync(at('d/mine'), 'mine\n');
    },
    conflicts: ['d', 'there'],
    stays: (at) => text(at('d/mine')) === 'mine\n',
  },
  {
    title: 'a file is made in a renamed directory',
    edit: (at) => writeFileSync(at('there/mine'), 'mine\n'),
    conflicts: ['d', 'there'],
    stays: (at) => text(existsSync(at('d')) ? at('d/mine') : at('there/mine')) === 'mine\n',
  },
  {
    title: 'a changed file gets one more name',
    edit: (at) => linkSync(at('c'), at('c-mine')),
    conflicts: [],
    stays: (at) => existsSync(at('c-mine')),
  },
];

/** All names that the command touched, and that an edit does not. */
const TOUCHED = ['a', 'b', 'c', 'd/x', 'd/y', 'e/z'];

test.each(EDITS)('$title', async ({ edit, conflicts, stays }) => {
  const undone = await make(SETUP);
  const { changes } = await undone.run(COMMAND);
  const at = (name: string) => join(undone.path, name);
  edit(at);
  const told = await changes.revert();
  expect(stays(at), JSON.stringify(told)).toBe(true);
  expectConflicts(told, conflicts.map(at));
  expect(told.lost).toEqual([]);
  const isLeft = (name: string) =>
    conflicts.some((one) => name === one || name.startsWith(`${one}/`));
  for (const name of TOUCHED.filter((one) => !isLeft(one) && !conflicts.includes('there'))) {
    expect(text(at(name)), name).toBe(name === 'a2' ? 'a before\n' : `${name} before\n`);
  }
});

function expectConflicts({ conflicts }: Reverted, among: readonly string[]): void {
  const paths = conflicts.map(({ path }) => path);
  if (among.length === 0) return;
  expect(
    paths.some((path) => among.includes(path)),
    JSON.stringify(conflicts),
  ).toBe(true);
  // Nothing that nobody touched is kept back.
  const others = paths.filter(
    (path) => !among.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  expect(others).toEqual([]);
}

test('taken back a second time, nothing is changed, and nothing is a conflict', async () => {
  const undone = await make(SETUP);
  const { changes } = await undone.run(COMMAND);
  await changes.revert();
  expect(await undone.differences()).toEqual([]);
  expect(await changes.revert()).toMatchObject({ conflicts: [], lost: [] });
  expect(await undone.differences()).toEqual([]);
});

test('what the user does after it was taken back stays when it is taken back again', async () => {
  const undone = await make(SETUP);
  const { changes } = await undone.run(COMMAND);
  await changes.revert();
  const at = (name: string) => join(undone.path, name);
  writeFileSync(at('a'), 'mine\n');
  mkdirSync(at('made'));
  await changes.revert();
  expect(text(at('a'))).toBe('mine\n');
  expect(existsSync(at('made'))).toBe(true);
});

test('some paths are taken back, and then the rest', async () => {
  const undone = await make(SETUP);
  const { changes } = await undone.run(COMMAND);
  const at = (name: string) => join(undone.path, name);
  expect(await changes.revert(['b', at('e')])).toMatchObject({ conflicts: [], lost: [] });
  expect([text(at('b')), text(at('e/z'))]).toEqual(['b before\n', 'e/z before\n']);
  expect([text(at('a')), existsSync(at('d')), existsSync(at('made'))]).toEqual([
    ...['after\n', false, true],
  ]);
  expect(await changes.revert(['there'])).toMatchObject({ conflicts: [], lost: [] });
  expect(text(at('d/x'))).toBe('d/x before\n');
  expect(await changes.revert(['nothing'])).toEqual({ reverted: [], conflicts: [], lost: [] });
  expect(await changes.revert()).toMatchObject({ conflicts: [], lost: [] });
  expect(await undone.differences()).toEqual([]);
});
