import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type ArtifactStore,
  createArtifactStore,
  createBashTool,
  createInteractionLog,
  createLocalResolver,
  run,
} from '../../src/index.js';
import { openCallLog } from '../../src/mcp/call-log.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { fillSandboxes, makeScene, people, type Scene, useScenes } from '../support/sandbox.js';

// Stores and logs of the host where a command in a sandbox can put links.
fillSandboxes();
leavesNothingBehind();
const scenes = useScenes();
const sandbox = 'workspace-write';

/** All that is to stay as it is. */
const lookAt = ({ outside }: Scene) =>
  readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), 'utf8')]);
const untouched = [['file', 'before\n']];

describe('S5: artifacts in a workspace', () => {
  const long = 'seq 100000';
  /** A tool with a store in a directory of the workspace. */
  const withStore = (cwd: string, maxTotalBytes = 2 ** 30) => {
    const directory = join(cwd, 'kept');
    const artifacts: ArtifactStore = createArtifactStore({ directory, maxTotalBytes });
    const tool = createBashTool({ contract: 'workspace', cwd, sandbox, artifacts });
    onTestFinished(async () => {
      await tool.dispose();
      await artifacts.dispose();
    });
    return { artifacts, tool };
  };

  test('S5: are not written where a command has moved their directory away', async () => {
    const scene = makeScene(scenes.path, people[0]);
    const { artifacts, tool } = withStore(scene.work);
    await tool.execute({ command: long });
    expect(readdirSync(join(scene.work, 'kept'))).toContain('0.bash.log');
    await run(`mv kept moved && ln -s ${scene.outside} kept`, { cwd: scene.work, sandbox });
    const answer = await tool.execute({ command: long });
    const found = `ELOOP: expected a file, got a link: '${scene.work}/kept' -> '${scene.outside}'`;
    expect(JSON.stringify(answer)).toContain(found);
    await expect(artifacts.save('bash', 'text')).rejects.toThrow('kept: expected a directory');
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: are not made where a command of an earlier host has left a link', async () => {
    const scene = makeScene(scenes.path, people[0]);
    symlinkSync(scene.outside, join(scene.work, 'out'));
    const artifacts = createArtifactStore({ directory: join(scene.work, 'out/kept') });
    const tool = createBashTool({ contract: 'workspace', cwd: scene.work, sandbox, artifacts });
    onTestFinished(() => tool.dispose());
    await tool.execute({ command: long });
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: neither the counter nor an artifact is a link', async () => {
    const scene = makeScene(scenes.path, people[0]);
    const { artifacts, tool } = withStore(scene.work);
    await tool.execute({ command: long });
    const links = `ln -sf ${scene.home}/.ssh/id_rsa kept/0.bash.log; ln -sf ${scene.outside}/file kept/.ids`;
    await run(links, { cwd: scene.work, sandbox });
    for (const range of [undefined, { unit: 'lines', start: 1 }] as const) {
      await expect(artifacts.read('0', range)).rejects.toThrow('got a link');
    }
    await expect(artifacts.save('bash', 'text')).rejects.toThrow('got a link');
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: no files elsewhere are removed through a link', async () => {
    const scene = makeScene(scenes.path, people[0]);
    const { artifacts } = withStore(scene.work, 1000);
    await artifacts.save('bash', 'text');
    const theirs = join(scene.outside, '7.bash.log');
    execFileSync('touch', ['-d', '1 year ago', theirs]);
    await run(`mv kept moved && ln -s ${scene.outside} kept`, { cwd: scene.work, sandbox });
    const saving = [900, 900].map((size) => artifacts.save('bash', 'x'.repeat(size)));
    await Promise.allSettled(saving);
    await artifacts.list().catch(() => {});
    expect(existsSync(theirs)).toBe(true);
  });
});

describe('S5: logs in a workspace', () => {
  test('S5: are not written through links, from the first line on', async () => {
    const scene = makeScene(scenes.path, people[0]);
    symlinkSync(join(scene.outside, 'file'), join(scene.work, 'out.log'));
    symlinkSync(scene.outside, join(scene.work, 'logs'));
    const told: string[] = [];
    const logger = { warn: (message: string) => told.push(message) };
    for (const name of ['out.log', 'logs/new']) {
      const path = join(scene.work, name);
      const log = createInteractionLog({ path, logger });
      const tool = createBashTool({ contract: 'plain', cwd: scene.work, sandbox, log });
      const calls = openCallLog(path, logger.warn);
      calls.write({ event: 'connected', session: 's' });
      await tool.execute({ command: 'echo theirs' });
      await calls.close();
      await tool.dispose();
    }
    expect(told.filter((line) => line.includes('expected a file, got a link'))).toHaveLength(4);
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: go on after their directory was made anew', async () => {
    const { work: cwd } = makeScene(scenes.path, people[0]);
    const path = join(cwd, 'logs/log');
    mkdirSync(join(cwd, 'logs'));
    const log = createInteractionLog({ path });
    const tool = createBashTool({ contract: 'plain', cwd, sandbox, log });
    await tool.execute({ command: 'rm -r logs; mkdir logs' });
    await tool.execute({ command: 'echo more' });
    await tool.dispose();
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(2);
  });
});

test('S5: directories of local:// are not made through a link that comes meanwhile', async () => {
  const scene = makeScene(scenes.path, people[0]);
  await run('mkdir root', { cwd: scene.work, sandbox });
  const local = createLocalResolver({ root: join(scene.work, 'root') });
  await local.resolve('local://a/b');
  const swap = `import os
os.symlink("${scene.outside}", "link"); os.rename("root/a", "real")
count = 0
while not os.path.exists("over"):
    for one in "real", "link":
        while os.path.lexists(one):
            try: os.rename(one, "root/a")
            except OSError:
                count += 1
                os.rename("root/a", "old%d" % count)
        os.rename("root/a", one)`;
  const swapping = run(`exec python3 -c '${swap}'`, {
    cwd: scene.work,
    sandbox,
    timeoutMs: 60_000,
  });
  await eventually(() => expect(existsSync(join(scene.work, 'link'))).toBe(true));
  // Many at once: between the look at a directory and the making of the next one lies a queue.
  for (let tries = 0; tries < 20; tries += 1) {
    const urls = Array.from({ length: 100 }, (_, index) => `local://a/${tries}-${index}/x`);
    await Promise.allSettled(urls.map((url) => local.resolve(url)));
  }
  spawnSync('touch', [join(scene.work, 'over')]);
  await swapping;
  expect(lookAt(scene)).toEqual(untouched);
});
