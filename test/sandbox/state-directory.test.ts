import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, detachingHost, makeScene, people, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

/** The home itself is the workspace, which commands can write to. */
const inHome = (home: string) => ({ cwd: home, sandbox: 'workspace-write' });

test.each(people)('the records of detached tasks are hidden from commands (%s)', async (person) => {
  const scene = makeScene(scenes.path, person);
  const { home } = scene;
  const { ask, end } = detachingHost(person, scene);
  const { id } = await ask({ start: 'echo secret; exit 3', options: { cwd: home } });
  await ask({ id, until: ['ended'] });
  const state = join(home, '.local', 'state', 'forkline');
  // The host's own, beside those of tasks.
  const rooms = ['caches', 'held'];
  const tasks = () => readdirSync(state).filter((name) => !rooms.includes(name));
  const [place = ''] = tasks();
  for (const denyRead of [undefined, []]) {
    const filesystem = denyRead === undefined ? {} : { filesystem: { denyRead } };
    const sandbox = { mode: 'workspace-write', ...filesystem };
    const command = `cat ${state}/*/output; ls ${state}; ls -d ${state}/${place}; touch ${state}/new; true`;
    const { text } = await runAs(person, scene, command, { cwd: home, sandbox });
    expect(text).not.toContain('secret');
    expect(text).not.toMatch(new RegExp(`^(${state}/)?${place}$`, 'm'));
  }
  expect(tasks()).toEqual([place]);
  await end();
});

test.each(people)(
  'a command cannot make the directory in which hosts look for tasks (%s)',
  async (person) => {
    const scene = makeScene(scenes.path, person);
    const { home } = scene;
    const state = join(home, '.local', 'state', 'forkline');
    const place = `${state}/background-9999999999-forged`;
    const order = { version: 1, command: 'x', cwd: '/', graceMs: 0, outputQuota: 0 };
    const task = JSON.stringify({ ...order, hasInput: true, askedAt: 1 });
    const command = `umask 077; mkdir -p ${place}; echo '${task}' >${place}/task.json; echo >${place}/output.state; true`;
    await runAs(person, scene, command, inHome(home));
    const env = { HOME: home, TMPDIR: home, XDG_STATE_HOME: '' };
    const { tasks } = await runHost<{ tasks: unknown }>('tasks', {
      args: ['forged'],
      under: as(person),
      env,
    });
    expect(tasks).toEqual([]);
  },
);
