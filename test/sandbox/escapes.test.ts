import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';
import { ROOT, where } from '../support/needs.js';
import { eventually, isGone } from '../support/processes.js';
import {
  describeForAll,
  makeScene,
  type Outsider,
  type Person,
  runAs,
  runDetachedAs,
  type Scene,
  startOutsider,
  useScenes,
} from '../support/sandbox.js';
import { byPower } from './ways/by-power.js';
import { byTalking } from './ways/by-talking.js';
import { byReading, byWriting } from './ways/by-writing.js';
import type { WayOut } from './ways/way.js';

// Each way is tried without a sandbox too, where it must lead out: else nothing would be shown.
leavesNothingBehind();
const scenes = useScenes();

const nowhere: Scene = { home: '/h', work: '/w', outside: '/o' };
const nobody: Outsider = { pid: 0, tcp: 0, udp: 0, segment: 0, key: 0 };

type Ways = (scene: Scene, told: Outsider) => readonly WayOut[];
/** Whether a command got out, by what it has left in the scene and what it has said. */
type IsOut = (scene: Scene, told: Outsider, said: string, before: string) => boolean;

/** All that is to stay as it is. */
function look({ outside, work }: Scene): string {
  const script = `cd "$0" && find . -printf '%p %m %T@ %s\\n' | grep -v 'heard\\|^\\. ' | sort; cat file
    cd "$1" && cat .git/config .vscode/*; ls .git/hooks | grep -v '[.]sample$'`;
  return execFileSync('sh', ['-c', `${script} 2>&1 || true`, outside, work], { encoding: 'utf8' });
}

const heard = ({ outside }: Scene) =>
  existsSync(`${outside}/heard`) ? readFileSync(`${outside}/heard`, 'utf8') : '';

const kinds: readonly (readonly [name: string, ways: Ways, isOut: IsOut])[] = [
  [
    'writing',
    byWriting,
    (scene, _, said, before) => look(scene) !== before || said.includes('OUT'),
  ],
  ['reading', byReading, (_, __, said) => said.includes('the secret key')],
  ['talking', byTalking, (scene, _, said) => heard(scene) !== '' || said.includes('OUT')],
  ['power', byPower, (_, told, said) => isGone(told.pid) || said.includes('OUT')],
];

async function tryIt(
  person: Person,
  ways: Ways,
  index: number,
  isOut: IsOut,
  sandbox?: string,
  runWith: typeof runAs | typeof runDetachedAs = runAs,
) {
  const scene = makeScene(scenes.path, person);
  const { told, child } = await startOutsider(scene, person);
  const before = look(scene);
  const { command = '' } = ways(scene, told)[index] ?? {};
  // Who ends all in the sandbox ends who would tell of it too.
  const ran = runWith(person, scene, command, { cwd: scene.work, sandbox });
  const { text } = await (sandbox === undefined ? ran : ran.catch(() => ({ text: '' })));
  const isOutNow = () => isOut(scene, told, text, before);
  // Who was signalled takes a moment to go.
  if (sandbox === undefined) await eventually(() => expect(isOutNow()).toBe(true));
  const out = isOutNow();
  child.stdin?.end();
  return { out, text };
}

describeForAll('%s', (person) => {
  describe.each(kinds)('by %s', (kind, ways, isOut) => {
    const all = ways(nowhere, nobody).map((way, index) => ({ ...way, index }));
    const theirs = all.filter(({ forRoot }) => !forRoot || person === 'root');
    const triesInVain = async ({ index, untried }: (typeof all)[number]) => {
      if (!untried) expect(await tryIt(person, ways, index, isOut)).toMatchObject({ out: true });
      const tried = await tryIt(person, ways, index, isOut, 'workspace-write');
      expect(tried).toMatchObject({ out: false });
    };
    // Most of the time goes into waiting for words that never come.
    const tags = kind === 'talking' ? ['slow'] : [];
    test.each(theirs)('a command in a sandbox $name in vain', { tags }, triesInVain);
    test.each(theirs)(
      'a detached command in a sandbox $name in vain',
      { tags: ['slow'] },
      async ({ index }) => {
        const late = await tryIt(person, ways, index, isOut, 'workspace-write', runDetachedAs);
        expect(late).toMatchObject({ out: false });
      },
    );
  });
});

test(
  'root is in a user namespace, so that its capabilities have no effect outside',
  where(ROOT),
  async () => {
    const scene = makeScene(scenes.path, 'root');
    const { text } = await runAs(
      'root',
      scene,
      'readlink /proc/self/ns/user; cat /proc/self/uid_map',
      {
        cwd: scene.work,
        sandbox: 'read-only',
      },
    );
    expect(text).not.toContain(
      execFileSync('readlink', ['/proc/self/ns/user'], { encoding: 'utf8' }),
    );
    expect(text).toMatch(/^ +0 +0 +4294967295$/m);
  },
);
