import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { as, describeForAll, give, makeScene, runAs, useScenes } from '../../support/sandbox.js';

// Homes in which caches are not plain directories.
leavesNothingBehind();
const scenes = useScenes();

const ENV = { XDG_CACHE_HOME: undefined, CARGO_HOME: undefined, GRADLE_USER_HOME: undefined };

describeForAll('%s', (person) => {
  test('files where caches would be stay what they are, and commands run', async () => {
    const scene = makeScene(scenes.path, person);
    const files = ['.npm', '.cache', '.gradle', '.m2', '.cargo'];
    for (const file of files) writeFileSync(join(scene.home, file), `${file}\n`);
    give(person, scene.home);
    const command = `cat ${files.map((file) => `~/${file}`).join(' ')}
      for each in $XDG_CACHE_HOME $npm_config_cache; do mkdir -p $each; echo own >$each/file; cat $each/file; done`;
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { text } = await runAs(person, scene, command, options, ENV);
    expect(text).toBe(`${files.join('\n')}\nown\nown\n`);
  });

  test('a cache that the command has been given is that of the command', async () => {
    const scene = makeScene(scenes.path, person);
    const told = (env: object, sandbox: unknown = 'workspace-write') => {
      const command =
        'echo $XDG_CACHE_HOME $npm_config_cache $NPM_CONFIG_CACHE; echo $pnpm_config_store_dir';
      const host = { ...ENV, NPM_CONFIG_CACHE: join(scene.home, 'n') };
      const options = { cwd: scene.work, sandbox, env };
      return runAs(person, scene, command, options, host).then(({ text }) => text.split('\n'));
    };
    expect((await told({}))[0]).toBe('/tmp/.cache /tmp/.cache/npm');
    const lower = await told({ npm_config_cache: './x' });
    expect(lower[0]).toBe(`/tmp/.cache ./x ${join(scene.home, 'n')}`);
    expect((await told({ NPM_CONFIG_CACHE: './x' }))[0]).toBe('/tmp/.cache ./x');
    expect((await told({ pnpm_config_store_dir: './s' }))[1]).toBe('./s');
    for (const sandbox of ['workspace-write', { caches: 'none' }]) {
      expect((await told({ XDG_CACHE_HOME: './c' }, sandbox))[0]).toBe('./c /tmp/.npm');
    }
  });

  test('a cache with a mount below it is seen whole, and another one is written to', async () => {
    const scene = makeScene(scenes.path, person);
    for (const path of ['.cache/tool', '.cache/pip', '.npm']) {
      mkdirSync(join(scene.home, path), { recursive: true });
    }
    writeFileSync(join(scene.home, '.cache/tool/warm'), 'tool\n');
    writeFileSync(join(scene.home, '.npm/warm'), 'npm\n');
    give(person, scene.home);
    const mount = 'mount -t tmpfs volume "$HOME/.cache/pip" && echo pip >"$HOME/.cache/pip/warm"';
    const host = startHost('commands', {
      under: [...as(person), 'unshare', '-rm', 'sh', '-c', `${mount}; exec "$@"`, 'sh'],
      env: { HOME: scene.home, XDG_STATE_HOME: '', npm_config_cache: undefined, ...ENV },
    });
    const { result, error } = await host.run(
      `cat ~/.cache/tool/warm ~/.cache/pip/warm ~/.npm/warm
      echo own >~/.npm/warm; cat ~/.npm/warm; echo own >$XDG_CACHE_HOME/file; cat $XDG_CACHE_HOME/file
      echo x 2>/dev/null >~/.cache/file || echo $XDG_CACHE_HOME`,
      { cwd: scene.work, sandbox: 'workspace-write' },
    );
    host.child.stdin?.end();
    await host.ended;
    expect(error).toBeUndefined();
    expect(result?.output).toMatchObject({
      text: expect.stringMatching(/^tool\npip\nnpm\nown\nown\n(?:.*\n)?\/tmp\/\.cache\n$/),
    });
    expect(readFileSync(join(scene.home, '.npm/warm'), 'utf8')).toBe('npm\n');
  });
});
