// U13: a policy that confines processes, and leaves files and the network as they are.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createBashTool, detach, run, type SandboxOption } from '../../src/index.js';
import { useTasks } from '../support/detached-tasks.js';
import { useDisposal } from '../support/disposal.js';
import { describeForAll, makeScene, runAs, type Scene, useScenes } from '../support/sandbox.js';
import { textOf } from '../support/tool.js';

const scenes = useScenes();
const keep = useDisposal();
useTasks();

const OPEN: SandboxOption = { mode: 'danger-full-access' };

describeForAll('U13: processes alone, for %s', (person) => {
  let scene: Scene;
  beforeEach(() => {
    scene = makeScene(scenes.path, person);
  });

  const said = async (command: string, sandbox: SandboxOption) =>
    (await runAs(person, scene, command, { cwd: '/', sandbox })).text;

  test.each<[SandboxOption]>([
    [OPEN],
    [{ mode: 'danger-full-access', processes: 'own' }],
    [
      {
        mode: 'read-only',
        filesystem: { allowWrite: ['/'], denyWrite: [], denyRead: [], tmp: 'shared' },
        network: 'full',
      },
    ],
  ])(
    '%j: files can be written to and read anywhere, processes outside are not seen',
    async (policy) => {
      const file = join(scene.home, 'written');
      const command = `echo x >${file}; ls -d ~/.ssh; kill -0 ${process.pid} 2>/dev/null || echo unseen; readlink /proc/self/ns/net`;
      const network = (await said('readlink /proc/self/ns/net', 'danger-full-access')).trim();
      expect(await said(command, policy)).toBe(`${scene.home}/.ssh\nunseen\n${network}\n`);
      expect(readFileSync(file, 'utf8')).toBe('x\n');
      rmSync(file);
    },
  );

  test('other fields hold all the same', async () => {
    const secret = join(scene.home, 'secret');
    const kept = join(scene.home, 'kept');
    for (const path of [secret, kept]) writeFileSync(path, 'as it was\n');
    const filesystem = { denyRead: [secret], denyWrite: [kept] };
    const policy: SandboxOption = { mode: 'danger-full-access', filesystem, network: 'none' };
    const command = `cat ${secret} 2>/dev/null || echo hidden; echo x 2>/dev/null >${kept} || echo kept; cat ${kept}; ls /sys/class/net`;
    const text = await said(command, policy);
    expect(text).toMatch(/^hidden\n[\s\S]*kept\nas it was\n/);
    expect(existsSync(secret)).toBe(true);
  });

  test("the kernel's settings can't be written to", async () => {
    const command =
      'for f in /proc/sys/kernel/hostname /proc/sysrq-trigger /sys/kernel/uevent_seqnum /sys/kernel/mm/ksm/run; do test -w $f && echo $f; done; touch /sys/x 2>/dev/null || echo closed';
    expect(await said(command, OPEN)).toBe('closed\n');
  });
});

test('U13: a tool, a shell that lasts and a detached command are confined so, too', async () => {
  const command = `kill -0 ${process.pid} 2>/dev/null || echo unseen`;
  for (const persistent of [false, true]) {
    const tool = keep(
      createBashTool({ contract: 'session', cwd: scenes.path, persistent, sandbox: OPEN }),
    );
    expect(textOf(await tool.execute({ command }))).toContain('unseen');
  }
  const task = await detach(command, { cwd: scenes.path, sandbox: OPEN });
  await task.wait();
  expect((await task.read()).text).toBe('unseen\n');
  const { sandbox } = await run('true', { cwd: scenes.path, sandbox: OPEN });
  expect(sandbox?.enforced).toMatchObject({ processes: 'namespace', tmp: 'none', network: 'none' });
});
