import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import type { SandboxPolicy } from '../../src/index.js';
import { endOf, program } from '../support/cli.js';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { as, makeScene, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const HIDING = 'mount -t proc -o hidepid=invisible proc /proc; exec "$@"';
const PERSON = 'an ordinary user';
const UNDER = ['unshare', '-m', 'sh', '-c', HIDING, 'sh', ...as(PERSON)];

function startHiding() {
  const scene = makeScene(scenes.path, PERSON);
  const host = startHost('commands', {
    under: UNDER,
    env: { HOME: scene.home, XDG_STATE_HOME: '' },
  });
  return { host, scene };
}

test(
  'where /proc hides processes, a report says that denials may be missing',
  where(ROOT),
  async () => {
    const { host, scene } = startHiding();
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { result } = await host.run('git config core.fsmonitor ./x', options);
    host.child.stdin?.end();
    await host.ended;
    expect(result).toMatchObject({
      outcome: { kind: 'exited', exitCode: 4 },
      sandbox: {
        denials: [],
        unseen: [expect.stringMatching(/^\/proc hides other users' processes/)],
      },
    });
  },
);

test('where /proc hides processes, what needs to see them is refused', where(ROOT), async () => {
  const { host, scene } = startHiding();
  const socket = `${scene.home}/agent`;
  const tell = async (policy: SandboxPolicy) => {
    const { result, error } = await host.run('true', { cwd: scene.work, sandbox: policy });
    return error?.message ?? result?.outcome;
  };
  const hidden = expect.stringMatching(/^sandbox\.[\w.]+: expected .* \(hidepid\).*, got /);
  expect(await tell({ sshAgent: { socket } })).toEqual(hidden);
  expect(await tell({ gpgAgent: { socket } })).toEqual(hidden);
  expect(await tell({ ports: { publish: 'auto' } })).toEqual(hidden);
  expect(await tell({ ports: { publish: [8127] } })).toEqual(hidden);
  const others = { sshAgent: false, ports: { reach: [8127], publish: [] } };
  expect(await tell(others)).toEqual({ kind: 'exited', exitCode: 0 });
  host.child.stdin?.end();
  await host.ended;
});

test('doctor says what it costs that /proc hides processes', where(ROOT), async () => {
  const [unshare = '', ...rest] = [...UNDER, process.execPath, program, 'doctor', '--json'];
  const { stdout } = await endOf(spawn(unshare, rest));
  const { findings } = JSON.parse(stdout.toString());
  const cost = expect.stringMatching(/sshAgent, gpgAgent and ports\.publish/);
  expect(findings).toContainEqual(
    expect.objectContaining({ name: 'other users', status: 'limited', cost }),
  );
});
