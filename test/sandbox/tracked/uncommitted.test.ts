import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgingEntries } from '../../../src/sandbox/pins/history.js';
import { countAccepted } from '../../../src/sandbox/pins/present.js';
import { git, write } from '../../support/checkouts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import {
  describeForAll,
  give,
  type Person,
  people,
  runAs,
  type Scene,
  useScenes,
} from '../../support/sandbox.js';
import { makeOwned } from './owned.js';

leavesNothingBehind();
const scenes = useScenes();

/** A repository whose user has changed settings since the last commit. */
function makeChanged(person: Person): Scene {
  const scene = makeOwned(scenes.path);
  const { work } = scene;
  for (const file of ['.npmrc', '.claude/run', '.vscode/a/settings.json']) {
    write(work, file, 'committed\n');
  }
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'first');
  write(work, '.npmrc', 'own\n');
  write(work, '.claude/run', 'own\n');
  chmodSync(join(work, '.claude/run'), 0o755);
  write(work, '.vscode/a/settings.json', 'own\n');
  give(person, join(work, '..'));
  return scene;
}

describeForAll('settings that %s has not committed', (person) => {
  test('go away and come back with the stash', async () => {
    const scene = makeChanged(person);
    const { work } = scene;
    const show = 'cat .npmrc .claude/run .vscode/a/settings.json; git status --short';
    const command = `git stash -q; ${show}; git stash pop -q; ${show}; test -x .claude/run`;
    const options = { cwd: work, sandbox: 'workspace-write' };
    const { text, result } = await runAs(person, scene, command, options);
    const three = (word: string) => `${word}\n`.repeat(3);
    const changed = ' M .claude/run\n M .npmrc\n M .vscode/a/settings.json\n';
    expect(text).toBe(`${three('committed')}${three('own')}${changed}`);
    expect(result.outcome).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(work, '.npmrc'), 'utf8')).toBe('own\n');
  });

  test('do not count by what a command has written since', async () => {
    const scene = makeChanged(person);
    const { work } = scene;
    const command =
      'echo evil > new; mv new .npmrc; cp .npmrc .mcp.json; git stash -q; echo own2 > .npmrc; cat .npmrc';
    const options = { cwd: work, sandbox: 'workspace-write' };
    await runAs(person, scene, command, options);
    expect(readFileSync(join(work, '.npmrc'), 'utf8')).toMatch(/^(?:own|committed)\n$/);
  });
});

test('a setting that was accepted counts as one that was there', () => {
  const { work } = makeChanged(people[0]);
  const path = join(work, '.npmrc');
  const planned = () =>
    judgingEntries([work, join(work, '.git')], [join(work, '.git')], ['.npmrc', '.claude']).join(
      '',
    );
  const blob = (text: string) => {
    write(work, 'text', text);
    return git(work, 'hash-object', 'text');
  };
  const own = `present\0${path}\0blob\x00100644 ${blob('own\n')}\0`;
  const accepted = `present\0${path}\0blob\x00100755 ${blob('accepted\n')}\0`;
  expect(planned()).toContain(own);
  expect(planned()).toContain(`present\0${work}/.claude/run\0blob\x00100755 ${blob('own\n')}\0`);
  expect(planned()).not.toContain(accepted);
  write(work, '.npmrc', 'later\n');
  countAccepted({ path, what: 'file', mode: 0o755 }, Buffer.from('accepted\n'));
  expect(planned()).toContain(own);
  expect(planned()).toContain(accepted);
  expect(planned()).not.toContain(blob('later\n'));
});
