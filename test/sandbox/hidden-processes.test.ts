import { expect, test } from 'vitest';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { as, makeScene, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const HIDING = 'mount -t proc -o hidepid=invisible proc /proc; exec "$@"';

test(
  'where /proc hides processes, a report says that denials may be missing',
  where(ROOT),
  async () => {
    const person = 'an ordinary user';
    const scene = makeScene(scenes.path, person);
    const host = startHost('commands', {
      under: ['unshare', '-m', 'sh', '-c', HIDING, 'sh', ...as(person)],
      env: { HOME: scene.home, XDG_STATE_HOME: '' },
    });
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
