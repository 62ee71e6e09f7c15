import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { describeForAll, people, runAs, useScenes } from '../../support/sandbox.js';
import { ALWAYS, heldIn, inWorkspace, makeHistory } from './repository.js';

leavesNothingBehind();
const scenes = useScenes();

const LONG = 'head -c 2000000 /dev/zero';

describeForAll('a setting of %s that can not go in', (person) => {
  test.each([
    ['written', `${LONG} > .gitconfig`],
    ['renamed', `${LONG} > new; mv new .gitconfig`],
  ])('is held back when it is too long: %s', async (_, command) => {
    const scene = makeHistory(scenes.path, person);
    await inWorkspace(person, scene, `{ ${command}; } 2>&1`);
    const path = join(scene.work, '.gitconfig');
    expect([existsSync(path), heldIn(scene)]).toEqual([false, [`${path} unknown-content`]]);
  });

  test('is told of when it can not be held back either', async () => {
    const scene = makeHistory(scenes.path, person);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const command = 'head -c 70000000 /dev/zero > .gitconfig';
    const { result } = await runAs(person, scene, command, options);
    expect(result.sandbox?.unseen?.join()).toContain('held back');
  });
});

/** A user who has taken all of its instances of inotify. */
const USER = 64_321;
const TAKE_ALL = `import ctypes, os, sys
while ctypes.CDLL(None).inotify_init1(0) >= 0: pass
os.execvp(sys.argv[1], sys.argv[1:])`;

describe.skipIf(people.length < 2)('where nothing can be watched', () => {
  test('mounts keep settings, and the report says so', async () => {
    const scene = makeHistory(scenes.path, people[0]);
    execFileSync('chown', ['-R', `${USER}:${USER}`, join(scene.work, '..')]);
    const user = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
    const host = startHost('commands', {
      under: [...user, '/usr/bin/python3', '-c', TAKE_ALL],
      env: { HOME: scene.home, XDG_STATE_HOME: '', npm_config_cache: undefined },
    });
    const command = `git checkout -q release; echo evil > ${ALWAYS}; cat ${ALWAYS}`;
    const { result } = await host.run(command, { cwd: scene.work, sandbox: 'workspace-write' });
    host.child.stdin?.end();
    await host.ended;
    expect(result?.sandbox?.enforced.settings).toBe('mount');
    expect(readFileSync(join(scene.work, ALWAYS), 'utf8')).toBe('main\n');
  });
});
