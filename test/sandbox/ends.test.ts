import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { daemon, longSleep, sleeping } from '../support/commands.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { childrenOf, eventually } from '../support/processes.js';
import { as, describeForAll, makeScene, type Scene, useScenes } from '../support/sandbox.js';

// Ends are as exact in a sandbox as they are elsewhere.
leavesNothingBehind();
const scenes = useScenes();

const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8');

/** The processes below one, by their names. */
function below(pid: number, name: string): number[] {
  return childrenOf(pid).flatMap((child) => {
    const is = readFileSync(`/proc/${child}/comm`, 'utf8').trim() === name;
    return [...(is ? [child] : []), ...below(child, name)];
  });
}

describeForAll('%s', (person) => {
  const hostOf = ({ home }: Scene) =>
    startHost('commands', { under: as(person), env: { HOME: home } });

  test("remaining processes are listed by the host's process ids, and end with it", async () => {
    const scene = makeScene(scenes.path, person);
    const nap = longSleep(7100);
    const host = hostOf(scene);
    const command = `setsid ${nap} >/dev/null 2>&1 & ${daemon('/tmp/pid')}; until [ -s /tmp/pid ]; do sleep 0.01; done`;
    const { result } = await host.run(command, { cwd: scene.work, sandbox: 'workspace-write' });
    const [left, other] = result?.background ?? [];
    expect([left?.command, other?.command].sort()).toEqual(
      [nap, expect.stringMatching(/^perl/)].sort(),
    );
    expect(sleeping(7100)).toHaveLength(1);
    const [pid = 0] = sleeping(7100);
    expect(result?.background.map((process) => process.pid)).toContain(pid);
    expect(statusOf(pid)).toMatch(/^NSpid:\t\d+\t\d+$/m);
    host.child.stdin?.end();
    await host.ended;
    await eventually(() => expect(sleeping(7100)).toEqual([]));
  });

  test('a command that is ended is ended with its daemons', async () => {
    const scene = makeScene(scenes.path, person);
    const host = hostOf(scene);
    const command = `trap '' TERM; setsid ${longSleep(7200)} & setsid -f ${longSleep(7201)}; wait`;
    const options = { cwd: scene.work, sandbox: 'workspace-write', timeoutMs: 500, graceMs: 100 };
    const { result } = await host.run(command, options);
    expect(result?.outcome).toMatchObject({ kind: 'timedOut', forced: true });
    expect([...sleeping(7200), ...sleeping(7201)]).toEqual([]);
    host.child.stdin?.end();
    await host.ended;
  });

  test('a host that is killed takes its sandboxes along', async () => {
    const scene = makeScene(scenes.path, person);
    const host = hostOf(scene);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    await host.run(`setsid -f ${longSleep(7300)} >/dev/null 2>&1`, options);
    expect(sleeping(7300)).toHaveLength(1);
    host.child.kill('SIGKILL');
    await host.ended;
    await eventually(() => expect(sleeping(7300)).toEqual([]));
  });

  test('a sandbox whose first process is killed is gone, and the next command has another', async () => {
    const scene = makeScene(scenes.path, person);
    const host = hostOf(scene);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const first = await host.run(
      `setsid -f ${longSleep(7400)} >/dev/null 2>&1; echo x > /tmp/x`,
      options,
    );
    expect(first.error).toBeUndefined();
    const [pid = 0] = sleeping(7400);
    const keepers = below(host.child.pid ?? 0, 'forkline-keeper');
    const inside = keepers.find((keeper) => /^NSpid:\t\d+\t1$/m.test(statusOf(keeper)));
    expect(pid).toBeGreaterThan(0);
    process.kill(inside ?? 0, 'SIGKILL');
    await eventually(() => expect(sleeping(7400)).toEqual([]));
    await sleep(100);
    const { result } = await host.run('cat /tmp/x; echo again', options);
    expect(result?.output).toMatchObject({
      text: expect.stringMatching(/No such file.*\nagain\n$/),
    });
    host.child.stdin?.end();
    await host.ended;
  });

  test('many commands at once, in several sandboxes', async () => {
    const scene = makeScene(scenes.path, person);
    const host = hostOf(scene);
    const asked = Array.from({ length: 60 }, (_, index) => {
      const sandbox = {
        mode: index % 2 ? 'read-only' : 'workspace-write',
        network: index % 3 ? 'none' : 'full',
      };
      return host.run(`echo ${index}`, { cwd: scene.work, sandbox });
    });
    const answers = await Promise.all(asked);
    const texts = answers.map(
      ({ result }) => result?.output.kind === 'complete' && result.output.text,
    );
    expect(texts).toEqual(asked.map((_, index) => `${index}\n`));
    host.child.stdin?.end();
    await host.ended;
  });
});
