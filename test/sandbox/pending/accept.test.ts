import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findChanges } from '../../../src/index.js';
import { useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';
import { fill, held, holding, picture, textOf } from './held.js';

// What an accept gives outside: rights of directories, rights of files, and names of the same file.

leavesNothingBehind(20);
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();
// Layers have directories that nobody may write to.
afterAll(() => void execFileSync('chmod', ['-R', 'u+rwX', state.path]));

const work = (): string => fill(newFolder(), ['a', 'b', 'sub/deep/d', 'gone/e']);

test('directories that let no one in get that last, and stay as they were', async () => {
  const [cwd, other] = [work(), work()];
  for (const path of [cwd, other]) chmodSync(join(path, 'gone'), 0o555);
  const text =
    'mkdir -p shut/in; echo x >shut/in/f; chmod 500 shut/in; chmod 555 shut; rm sub/deep/d; chmod 555 sub/deep; ' +
    'chmod 755 gone; echo y >gone/more; chmod 555 gone; touch -d @7 shut/in sub/deep';
  const { changes } = await held(text, cwd);
  expect(await changes.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  execFileSync('bash', ['-c', text], { cwd: other });
  expect(picture(cwd)).toBe(picture(other));
  for (const name of ['shut/in', 'sub/deep']) {
    expect(statSync(join(cwd, name)).mtimeMs).toBe(7000);
  }
  expect(await (await findChanges(changes.id ?? '')).list).toEqual([]);
  execFileSync('chmod', ['-R', 'u+w', cwd, other]);
});

test('rights of other users are not accepted, which is told once', async () => {
  const cwd = work();
  const { changes } = await held('chmod 4750 a; chmod 600 b', cwd);
  const { accepted, heldBack } = await changes.accept();
  expect(accepted).toEqual([join(cwd, 'a'), join(cwd, 'b')]);
  const reason = 'its set-user-id and set-group-id bits (4000) are never accepted';
  expect(heldBack).toEqual([{ path: join(cwd, 'a'), reason }]);
  expect(statSync(join(cwd, 'a')).mode & 0o7777).toBe(0o750);
  expect(await (await findChanges(changes.id ?? '')).list).toEqual([]);
});

test('a change at one name of a file is no conflict with one at another, now and later', async () => {
  const cwd = work();
  linkSync(join(cwd, 'a'), join(cwd, 'other'));
  linkSync(join(cwd, 'a'), join(cwd, 'gone/third'));
  const sandbox = holding();
  const { changes } = await held('echo more >>a; rm -r gone; ln a new', cwd, sandbox);
  expect(await changes.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  await held('chmod 600 other; echo again >>new', cwd, sandbox);
  expect(await changes.accept()).toMatchObject({ conflicts: [], heldBack: [] });
  expect(textOf(join(cwd, 'a'))).toBe('a\nmore\nagain\n');
  expect(textOf(join(cwd, 'other'))).toBe('a\n');
  expect(statSync(join(cwd, 'other')).mode & 0o777).toBe(0o600);
});
