import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, write } from '../../support/checkouts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import {
  describeForAll,
  give,
  type Person,
  runAs,
  type Scene,
  useScenes,
} from '../../support/sandbox.js';
import { makeOwned } from './owned.js';

leavesNothingBehind();
const scenes = useScenes();

/** A repository whose branch `nested` alone has a setting in `.config`. */
function makeNested(person: Person): Scene {
  const scene = makeOwned(scenes.path);
  const { work } = scene;
  git(work, 'checkout', '-q', '-b', 'main');
  write(work, 'a', 'a\n');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'main');
  git(work, 'checkout', '-q', '-b', 'nested');
  write(work, '.config/git/ignore', 'own\n');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'nested');
  git(work, 'checkout', '-q', 'main');
  give(person, join(work, '..'));
  return scene;
}

/** Ways to have another directory above the setting. */
const WAYS = {
  'exchanges it': `python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b".config", -100, b"evil", 2)'`,
  'moves it away, and links to another': 'mv .config old; ln -s evil .config',
  'moves another to it': 'rm -rf .config; mv -T evil .config',
  'moves another to it once it is away': 'mv .config old; mv -T evil .config',
  'links to another': 'rm -rf .config; ln -s evil .config',
  'links by a second name':
    'rm -rf .config; ln -s evil link; ln -P link .config; mv link .config; mv -T link .config',
} as const;

describeForAll('the directory above a setting, for %s', (person) => {
  test.each(Object.entries(WAYS))('stays the same for a command that %s', async (_, way) => {
    const scene = makeNested(person);
    const { work } = scene;
    const command = `git checkout -q nested; mkdir -p evil/git; echo evil > evil/git/ignore; ${way}; true`;
    await runAs(person, scene, command, { cwd: work, sandbox: 'workspace-write' });
    const place = join(work, '.config');
    const found = lstatSync(place, { throwIfNoEntry: false });
    expect(found?.isSymbolicLink() ?? false).toBe(false);
    const file = join(place, 'git/ignore');
    expect(existsSync(file) ? readFileSync(file, 'utf8') : 'own\n').toBe('own\n');
  });

  test('can be made, filled and removed', async () => {
    const scene = makeNested(person);
    const { work } = scene;
    const command =
      'git checkout -q nested && echo x > .config/x && mv .config/x .config/y && rm .config/y && git checkout -q main; mkdir .config && rmdir .config; ls -A .';
    const { text } = await runAs(person, scene, command, { cwd: work, sandbox: 'workspace-write' });
    expect(text).toBe('.git\na\n');
  });
});
