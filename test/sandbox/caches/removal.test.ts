import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import {
  describeForAll,
  give,
  makeScene,
  runAs,
  type Scene,
  useScenes,
} from '../../support/sandbox.js';

// Layers go although commands have put anything into them.
leavesNothingBehind();
const scenes = useScenes();

/** Layers are removed by a process beside the sandbox. */
const PATIENCE = { timeout: 20_000 };

const layersOf = ({ home }: Scene) => join(home, '.local/state/forkline/caches');

describeForAll('%s', (person) => {
  const ask = (scene: Scene, command: string) => {
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    return runAs(person, scene, `set -e; ${command}`, options, { XDG_CACHE_HOME: undefined });
  };

  function sceneWithCache(): Scene {
    const scene = makeScene(scenes.path, person);
    mkdirSync(join(scene.home, '.cache'));
    give(person, scene.home);
    return scene;
  }

  test('directories that cannot be written to go, however deeply they are nested', async () => {
    const scene = sceneWithCache();
    await ask(
      scene,
      `mkdir ~/.cache/deep; cd ~/.cache/deep; for i in $(seq 230); do mkdir d; cd -P d; done
      for i in $(seq 230); do chmod 500 .; cd -P ..; done`,
    );
    await ask(scene, 'true');
    const named = ['-name', 'deep', '-o', '-name', '.removed-*'];
    const left = () => execFileSync('find', [layersOf(scene), ...named], { encoding: 'utf8' });
    await expect.poll(left, PATIENCE).toBe('');
  });

  test('what is being removed is not taken for layers: no pipe or link in it is opened', async () => {
    const scene = sceneWithCache();
    await ask(scene, 'echo x >~/.cache/file');
    for (const name of ['.removed-1-1', '.removed-1-2']) {
      const moved = join(scene.outside, name);
      mkdirSync(moved);
      execFileSync('mkfifo', [join(moved, '0')]);
      if (name.endsWith('1')) symlinkSync('/dev/zero', join(moved, 'used'));
      else writeFileSync(join(moved, 'used'), '/no/such/workspace');
      give(person, moved);
      renameSync(moved, join(layersOf(scene), name));
    }
    await ask(scene, 'true');
    await ask(scene, 'true');
    const left = () => readdirSync(layersOf(scene)).filter((name) => name.startsWith('.'));
    await expect.poll(left, PATIENCE).toEqual([]);
    expect(existsSync(layersOf(scene))).toBe(true);
  });
});
