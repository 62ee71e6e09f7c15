import { expect, test } from 'vitest';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, describeForAll, makeScene, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

describeForAll('%s', (person) => {
  test.each([
    ['tool', true],
    ['tool', false],
    ['detached', true],
  ])('a task beside a shell (%s, first: %s) is in its sandbox', async (taskLifetime, isFirst) => {
    const scene = makeScene(scenes.path, person);
    const { work: cwd } = scene;
    const options = { contract: 'session', persistent: true, cwd, sandbox: 'workspace-write' };
    const env = { HOME: scene.home, TMPDIR: scene.home };
    const args = [JSON.stringify({ ...options, taskLifetime })];
    const host = startHost('conversation', { under: as(person), env, args });
    const ask = async (input: object) => {
      host.child.stdin?.write(`${JSON.stringify(input)}\n`);
      return (await host.next<{ text: string }>()).text;
    };
    if (!isFirst) await ask({ command: 'echo first > /tmp/first' });
    const command = `touch ${scene.outside}/new; echo shared > /tmp/shared
      exec timeout 50 /usr/bin/python3 -m http.server --bind 127.0.0.1 8124 2>/dev/null`;
    const told = await ask({ command, run_in_background: true });
    const [, id] = /task_id: (\w+)/.exec(told) ?? [];
    const get = 'until curl -sf http://127.0.0.1:8124/.vscode/settings.json; do sleep 0.05; done';
    expect(await ask({ command: `${get}; cat /tmp/shared` })).toBe('{}\nshared');
    // Nor does a new shell leave it.
    expect(await ask({ restart: true, command: 'cat /tmp/shared' })).toMatch(/^shared$/m);
    const end = await ask({ to: 'kill_task', task_id: id });
    expect(end).toContain(
      `(allowWrite). Write to ${cwd} or ${cwd}/.git or /tmp (the sandbox's own) instead.`,
    );
    host.child.stdin?.end();
    await host.ended;
  });
});
