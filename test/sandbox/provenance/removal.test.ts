import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../support/checkouts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { describeForAll, type Scene, useScenes } from '../../support/sandbox.js';
import { ALWAYS, heldIn, inWorkspace, makeHistory, SETTINGS } from './repository.js';

leavesNothingBehind();
const scenes = useScenes();

/** Waits until the setting is as it was. */
const isBack = ({ work }: Scene) =>
  expect
    .poll(
      () => {
        const path = join(work, ALWAYS);
        return existsSync(path) && lstatSync(path).isFile() ? readFileSync(path, 'utf8') : 'none';
      },
      { timeout: 5000 },
    )
    .toBe('main\n');

const python = (script: string) => `/usr/bin/python3 -c "${script}"`;
const REMOVE = `import os, time; os.unlink('${ALWAYS}')`;

describeForAll('a setting of every commit that a command of %s removes', (person) => {
  test.skipIf(cpus().length < 2)('is not made by a call that was on its way', async () => {
    for (let time = 0; time < 4; time += 1) {
      const scene = makeHistory(scenes.path, person, 'late.py');
      await inWorkspace(person, scene, `/usr/bin/python3 late.py ${ALWAYS}`);
      await isBack(scene);
    }
  });

  test.each([
    ['a process that is left behind', 'time.sleep(60)'],
    ['a socket in its place', `import socket; socket.socket(1).bind('${ALWAYS}'); time.sleep(60)`],
  ])('comes back at the end of the host, in spite of %s', async (_, rest) => {
    const scene = makeHistory(scenes.path, person);
    const left = python(`${REMOVE}; open('done', 'w'); ${rest}`);
    await inWorkspace(person, scene, `${left} & while ! [ -e done ]; do sleep 0.01; done`);
    await isBack(scene);
    const records = () => heldIn(scene);
    await expect.poll(records).toEqual([`${join(scene.work, ALWAYS)} removal`]);
  });

  test('comes back although a socket has its name', async () => {
    const scene = makeHistory(scenes.path, person);
    const script = `${REMOVE}; import socket; socket.socket(1).bind('${ALWAYS}'); time.sleep(3)`;
    const text = await inWorkspace(person, scene, `${python(script)}; cat ${ALWAYS}`);
    expect(text).toBe('main\n');
    expect(heldIn(scene)).toEqual([`${join(scene.work, ALWAYS)} removal`]);
  });

  test('lets git remove directories that a commit does not have', async () => {
    const scene = makeHistory(scenes.path, person);
    const script = 'git checkout -q without && ls -Ad .vscode .config/fish; git status --short';
    expect(await inWorkspace(person, scene, `{ ${script}; } 2>/dev/null`)).toBe('');
    expect(SETTINGS.filter((name) => existsSync(join(scene.work, name)))).toEqual([]);
    expect(git(scene.work, '-c', 'safe.directory=*', 'status', '--short')).toBe('');
    expect(heldIn(scene)).toEqual([]);
  });
});
