import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { longSleep, sleeping } from '../support/commands.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { as, describeForAll, makeScene, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

describeForAll('%s', (person) => {
  test.each([
    ['modes', { command: 'echo out > ../outside/new; echo in > new', mode: 'background' }],
    ['session', { command: 'echo out > ../outside/new; echo in > new', run_in_background: true }],
  ])('a background command of a %s tool', async (contract, input) => {
    const scene = makeScene(scenes.path, person);
    const options = {
      ...{ contract, cwd: scene.work, sandbox: 'workspace-write' },
      ...(contract === 'session' && { taskLifetime: 'detached' }),
    };
    const args = [options, input].map((one) => JSON.stringify(one));
    const env = { HOME: scene.home, TMPDIR: scene.home };
    const host = startHost('tools', { args, under: as(person), env });
    await host.next();
    await host.ended;
    await eventually(() => expect(existsSync(`${scene.work}/new`)).toBe(true));
    expect(existsSync(`${scene.outside}/new`)).toBe(false);
  });

  test('a model with file tools reads the output and stops the command as the answer says', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { contract: 'modes', cwd: scene.work, sandbox: 'workspace-write' };
    const command = `echo first; exec ${longSleep(7508)}`;
    // Its own place, but among temporary files.
    const tmp = mkdtempSync('/tmp/forkline-scene-');
    chmodSync(tmp, 0o1777);
    onTestFinished(() => rmSync(tmp, { recursive: true, force: true }));
    const env = { HOME: scene.home, TMPDIR: tmp };
    const host = startHost('conversation', {
      under: as(person),
      env,
      args: [JSON.stringify(options)],
    });
    const ask = async (input: object) => {
      host.child.stdin?.write(`${JSON.stringify(input)}\n`);
      return (await host.next<{ text: string }>()).text;
    };
    const told = await ask({ command, mode: 'background' });
    const [, file = ''] = /<output_file>(.*)<\/output_file>/.exec(told) ?? [];
    const [, stop = ''] = /To stop: (.*)<\/reminder>/.exec(told) ?? [];
    await eventually(() => expect(sleeping(7508)).toHaveLength(1));
    expect(await ask({ command: `cat ${file}` })).toContain('first');
    expect(await ask({ command: `ls ${file.replace(/[^/]*$/, '..')}` })).not.toMatch(/socket/);
    await ask({ command: stop });
    await eventually(() => expect(sleeping(7508)).toEqual([]));
    const last = `until grep -q SIGKILL ${file}; do sleep 0.05; done; tail -n1 ${file}`;
    expect(await ask({ command: last })).toContain('signal: 9 (SIGKILL)');
    host.child.stdin?.end();
    await host.ended;
  });
});
