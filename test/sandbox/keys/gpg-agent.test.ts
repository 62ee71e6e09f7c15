import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { where } from '../../support/needs.js';
import { describeForAll, give, useShortScenes } from '../../support/sandbox.js';
import { GPG, run, SSH_AGENT, sayEach, withGpgAgent } from './user-agents.js';

leavesNothingBehind();
const scenes = useShortScenes();
const COMMIT = 'git -c user.name=me -c user.email=me@example.com commit -q --allow-empty -S -m';

describeForAll('%s', (person) => {
  test('U10: a commit is signed by gpg, once for each command, and told', where(GPG), async () => {
    const scene = withGpgAgent(scenes.path, person);
    const [first, second, without] = [
      ...(await sayEach(
        scene,
        [
          `${COMMIT} one; git log --format=%G?; gpg -K --with-colons | grep -c '^sec.*:+:'`,
          `${COMMIT} two; ${COMMIT} three; git log --format=%s`,
        ],
        { gpgAgent: true },
      )),
      ...(await sayEach(scene, [`${COMMIT} four`], 'workspace-write')),
    ];
    expect(first?.text).toBe('G\n1\n');
    const signature = {
      agent: 'gpg',
      purpose: 'hash',
      key: expect.stringMatching(/^[\dA-F]{40}$/),
      target: expect.stringMatching(/^[\da-f]{64,128}$/),
    };
    expect(first).toMatchObject({ signatures: [signature], denials: [] });
    expect(second?.text).toMatch(/two\none\n$/);
    expect(second).toMatchObject({
      signatures: [signature],
      denials: [{ kind: 'sign', rule: 'gpgAgent', source: 'broker' }],
    });
    expect(without?.text).toMatch(/failed to sign/);
    const log = ['git', '-C', scene.work, '-c', 'safe.directory=*', 'log', '--format=%G?'];
    expect(run(person, scene.env, log)).toBe('G\nG\n');
  });

  test('nothing but one signature is obtainable from inside', where(GPG, SSH_AGENT), async () => {
    const scene = withGpgAgent(scenes.path, person);
    copyFileSync(fileURLToPath(new URL('gpg.py', import.meta.url)), join(scene.work, 'gpg.py'));
    give(person, scene.work);
    const list = run(person, scene.env, ['gpg', '-K', '--with-colons', '--with-keygrip']);
    const [, grip = ''] = /^grp:+([\dA-F]{40}):/m.exec(list) ?? [];
    const [often, once] = [
      ...(await sayEach(scene, [`python3 gpg.py ${grip} often`], {
        gpgAgent: { maxSignatures: 1000 },
      })),
      ...(await sayEach(scene, [`python3 gpg.py ${grip} once`], { gpgAgent: true })),
    ];
    for (const said of [often, once]) {
      const lines = said?.text.trim().split('\n') ?? [];
      expect(lines.filter((line) => !line.endsWith(': refused'))).toEqual([]);
      expect(lines).toHaveLength(29);
      expect(said?.signatures).toHaveLength(1);
    }
    const other = { gpgAgent: { keygrips: ['0'.repeat(40)] } };
    const [none] = await sayEach(
      scene,
      [`${COMMIT} one; gpg -K --with-colons | grep -c '^sec.*:+:'`],
      other,
    );
    expect(none?.text).toMatch(/failed to sign/);
    expect(none?.signatures).toEqual([]);
  });
});
