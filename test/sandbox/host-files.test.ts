import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run, TaskManager } from '../../src/index.js';
import { cli, endOf, startCliOn } from '../support/cli.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import {
  describeForAll,
  fillSandboxes,
  makeScene,
  people,
  runAs,
  type Scene,
  useScenes,
} from '../support/sandbox.js';

// Files that the host opens where a command in a sandbox can put links.
fillSandboxes();
leavesNothingBehind();
const scenes = useScenes();
const sandbox = 'workspace-write';

/** A workspace in which a command has made a link to a file outside, and one to its directory. */
async function linkedScene(): Promise<Scene & { readonly victim: string }> {
  const scene = makeScene(scenes.path, people[0]);
  const victim = join(scene.outside, 'file');
  const links = `ln -s ${victim} out.log; ln -s ${scene.outside} logs`;
  const { outcome } = await run(links, { cwd: scene.work, sandbox });
  expect(outcome).toMatchObject({ exitCode: 0 });
  return { ...scene, victim };
}

/** All that is to stay as it is. */
const lookAt = ({ outside }: Scene) =>
  readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), 'utf8')]);
const untouched = [['file', 'before\n']];

describe('S5: the file of a command’s output', () => {
  test('S5: is not written through a link that a command has made, which is reported', async () => {
    const scene = await linkedScene();
    const { work: cwd, victim, outside } = scene;
    const path = join(cwd, 'out.log');
    const { spill, output } = await run('echo theirs', { cwd, sandbox, spill: path });
    expect(output).toMatchObject({ text: 'theirs\n' });
    const message = `expected a file, got a link: '${path}' -> '${victim}'`;
    expect(spill?.error).toEqual({ code: 'ELOOP', errno: 40, message });
    expect(spill).toMatchObject({ path, bytes: 0, dropped: 7 });

    const below = { path: join(cwd, 'logs/file'), afterBytes: undefined };
    const spilled = await run('echo theirs', { cwd, sandbox, spill: below });
    expect(spilled.spill?.error?.message).toContain(`'${cwd}/logs' -> '${outside}'`);
    const late = { path: join(cwd, 'logs/new'), afterBytes: 0 };
    const after = await run('echo theirs', { cwd, sandbox, spill: late });
    expect(after.spill?.error).toMatchObject({ code: 'ELOOP' });
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: is not written there for a command without a sandbox either', async () => {
    const scene = await linkedScene();
    for (const name of ['out.log', 'logs/file', 'logs/new']) {
      const { spill } = await run('echo theirs', { spill: join(scene.work, name) });
      expect(spill?.error).toMatchObject({ code: 'ELOOP' });
    }
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: is opened by a path with links of the user’s, to the workspace and beside it', async () => {
    const { work, outside } = makeScene(scenes.path, people[0]);
    const alias = `${work}-alias`;
    symlinkSync(work, alias);
    for (const cwd of [work, alias]) {
      for (const [index, place] of [work, alias, outside].entries()) {
        const path = join(place, `out-${index}`);
        const { spill } = await run('echo mine', { cwd, sandbox, spill: path });
        expect(spill).toEqual({ path, bytes: 5, dropped: 0 });
        expect(readFileSync(path, 'utf8')).toBe('mine\n');
      }
    }
  });

  test('S5: is no named pipe that a command has made', async () => {
    const { work: cwd } = makeScene(scenes.path, people[0]);
    const path = join(cwd, 'out');
    const text = `mkfifo out; timeout 0.3 cat <>out >heard & echo on; sleep 0.1; seq 9999`;
    const { spill } = await run(text, { cwd, sandbox, spill: { path, afterBytes: 100 } });
    expect(spill?.error).toMatchObject({ code: 'EEXIST' });
    const again = await run('timeout 0.3 cat <>out >heard & echo theirs', {
      cwd,
      sandbox,
      spill: path,
    });
    const message = `expected a file, got a named pipe: '${path}'`;
    expect(again.spill?.error).toMatchObject({ code: 'ENXIO', message });
  });

  test('S5: is reported when the command puts a link in its place meanwhile', async () => {
    const { work: cwd, victim } = await linkedScene();
    const spill = join(cwd, 'swapped');
    const result = await run(`echo on; sleep 0.1; ln -sf ${victim} swapped`, {
      cwd,
      sandbox,
      spill,
    });
    const message = 'a link has replaced the file';
    expect(result.spill?.error).toMatchObject({ code: 'EIO', message });
  });

  test('S5: never lies outside, however fast a command swaps a directory for a link', async () => {
    const scene = await linkedScene();
    const { work: cwd, outside } = scene;
    const swap = `import os
os.mkdir("real"); os.symlink("${outside}", "link")
while not os.path.exists("over"):
    for one in "real", "link":
        os.rename(one, "here"); os.rename("here", one)`;
    const swapping = run(`exec python3 -c '${swap}'`, { cwd, sandbox, timeoutMs: 60_000 });
    await eventually(() => expect(existsSync(join(cwd, 'link'))).toBe(true));
    let opened = 0;
    for (let tries = 0; tries < 300; tries += 1) {
      const { spill } = await run('echo theirs', { cwd, spill: join(cwd, `here/${tries % 7}`) });
      if (spill?.error === undefined || spill.error.code === 'ENOENT') opened += 1;
    }
    execFileSync('touch', [join(cwd, 'over')]);
    await swapping;
    expect(opened).toBeGreaterThan(0);
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: is not written by the second run, in a wider sandbox, through a link that the first has made', async () => {
    const scene = makeScene(scenes.path, people[0]);
    const { work: cwd, outside } = scene;
    const command = `mkdir -p d; rm -rf d; ln -s ${outside} d; echo x >${outside}/../new`;
    const result = await run(command, {
      cwd,
      sandbox,
      spill: { path: join(cwd, 'd/file'), afterBytes: 0 },
      onDenied: () => 'danger-full-access',
    });
    expect(result.firstRun).toBeDefined();
    expect(lookAt(scene)).toEqual(untouched);
  });

  test("S5: may be the kernel's name for a descriptor of the host", async () => {
    const { work: cwd } = makeScene(scenes.path, people[0]);
    const held = openSync(join(cwd, 'held'), 'w');
    onTestFinished(() => closeSync(held));
    for (const path of ['/dev/null', `/proc/self/fd/${held}`, `/dev/fd/${held}`]) {
      const { spill } = await run('echo mine', { cwd, sandbox, spill: path });
      expect(spill).toMatchObject({ bytes: 5 });
      expect(spill).not.toHaveProperty('error');
    }
    expect(readFileSync(join(cwd, 'held'), 'utf8')).toBe('mine\n');
    const child = startCliOn(['ignore', 'ignore', held], 'run', '--spill', '/dev/stderr', 'echo 2');
    await endOf(child);
    expect(readFileSync(join(cwd, 'held'), 'utf8')).toBe('2\n');
  });

  test('S5: of the command line is no link either', async () => {
    const scene = await linkedScene();
    const path = join(scene.work, 'out.log');
    const flags = ['--sandbox', sandbox, '--cwd', scene.work, '--spill', path];
    const { stderr, stdout } = await cli('run', ...flags, 'echo theirs');
    expect(stdout.toString()).toBe('theirs\n');
    expect(stderr).toContain(`expected a file, got a link: '${path}' -> '${scene.victim}'`);
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: is no link with the portable engine', async () => {
    const scene = makeScene(scenes.path, people[0]);
    const [path, victim] = [join(scene.work, 'out.log'), join(scene.outside, 'file')];
    symlinkSync(victim, path);
    const host = startHost('commands', { env: { FORKLINE_ENGINE: 'portable' } });
    const { result } = await host.run('echo theirs', { spill: path });
    host.child.stdin?.end();
    await host.ended;
    const message = `expected a file, got a link: '${path}' -> '${victim}'`;
    expect(result?.spill?.error).toMatchObject({ code: 'ELOOP', message });
    expect(lookAt(scene)).toEqual(untouched);
  });

  test('S5: is not read through a link, when a task is read', async () => {
    const { work: cwd, home } = makeScene(scenes.path, people[0]);
    const tasks = new TaskManager();
    onTestFinished(() => tasks.dispose());
    const spill = join(cwd, 'out');
    const command = `seq 100000; ln -sf ${home}/.ssh/id_rsa out; sleep 0.3; seq 100000`;
    const task = await tasks.start(command, { cwd, sandbox, spill });
    await task.wait({ gone: true });
    const { text } = await task.read({ since: 0, maxBytes: 1000 });
    expect(text).not.toContain('the secret key');
  });
});

describeForAll('S5: %s', (person) => {
  test.each([
    ['namespaces', {}],
    ['Landlock alone', { require: 'landlock' }],
    ['temporary files of the host', { filesystem: { tmp: 'shared' } }],
  ])('S5: for any user, the file is not written through a link (%s)', async (_, policy) => {
    const scene = makeScene(scenes.path, person);
    const { work: cwd, outside } = scene;
    const options = { cwd, sandbox: policy };
    await runAs(person, scene, `ln -s ${outside} logs; ln -s ${outside}/file out.log`, options);
    for (const name of ['logs/file', 'logs/new', 'out.log']) {
      const { result } = await runAs(person, scene, 'echo 1', {
        ...options,
        spill: join(cwd, name),
      });
      expect(result.spill?.error).toMatchObject({ code: 'ELOOP' });
    }
    expect(lookAt(scene)).toEqual(untouched);
  });
});
