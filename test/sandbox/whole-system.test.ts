import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownPlaces } from '../../src/engine/addon/places.js';
import { isAmong, longestOf } from '../../src/sandbox/paths.js';
import { readSandbox } from '../../src/sandbox/read-policy.js';
import { resolveSandbox } from '../../src/sandbox/resolve.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, give, makeScene, people, runAs, useScenes } from '../support/sandbox.js';

// Where commands can write to the whole file system, all paths are among those that they can write to.
leavesNothingBehind();
const scenes = useScenes();

test('all absolute paths are below the root', () => {
  expect(isAmong('/a/b', ['/'])).toBe(true);
  expect(isAmong('/', ['/'])).toBe(true);
  expect(isAmong('/ab', ['/a', '/a/b'])).toBe(false);
  expect(longestOf('/a/b', ['/', '/a', '/b'])).toBe(2);
  expect(longestOf('/b', ['/', '/a'])).toBe(1);
});

const OPEN = [
  { filesystem: { allowWrite: ['/'] } },
  { mode: 'danger-full-access', processes: 'own', network: 'none' },
];

test.each(OPEN)('the files that this process relies on are kept: %j', (given) => {
  const { work } = makeScene(scenes.path, people[0]);
  const policy = readSandbox(given);
  if (typeof policy !== 'object') throw new Error('no policy');
  expect(resolveSandbox(policy, work).kept).toEqual(expect.arrayContaining([...ownPlaces()]));
});

for (const person of people) {
  test.each(OPEN)(`no records of tasks can be planted (${person}): %j`, async (sandbox) => {
    const scene = makeScene(scenes.path, person);
    const state = join(scene.home, '.local/state/forkline');
    const place = `${state}/background-9999999999-forged`;
    const order = { version: 1, command: 'x', cwd: '/', graceMs: 0, outputQuota: 0 };
    const task = JSON.stringify({ ...order, hasInput: true, askedAt: 1 });
    const command = `umask 077; mkdir -p ${place}; echo '${task}' >${place}/task.json; echo >${place}/output.state; true`;
    await runAs(person, scene, command, { cwd: scene.work, sandbox });
    const { tasks } = await runHost<{ tasks: unknown }>('tasks', {
      args: ['forged'],
      under: as(person),
      env: { HOME: scene.home, TMPDIR: scene.work, XDG_STATE_HOME: '' },
    });
    expect(tasks).toEqual([]);
  });

  test(`caches have no layer (${person})`, async () => {
    const scene = makeScene(scenes.path, person);
    mkdirSync(join(scene.home, '.cache'));
    give(person, scene.home);
    const sandbox = { filesystem: { allowWrite: ['/'] } };
    const env = { XDG_CACHE_HOME: undefined };
    await runAs(person, scene, 'echo x >~/.cache/file', { cwd: scene.work, sandbox }, env);
    expect(readFileSync(join(scene.home, '.cache/file'), 'utf8')).toBe('x\n');
    // Nor are directories made for those that the user does not have.
    expect(readdirSync(scene.home).sort()).toEqual(['.cache', '.local', '.ssh']);
  });
}
