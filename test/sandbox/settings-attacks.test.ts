import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  makeScene,
  type Person,
  people,
  runAs,
  type Scene,
  useScenes,
} from '../support/sandbox.js';
import { onSettings, type SettingAttack } from './ways/on-settings.js';

leavesNothingBehind();
const scenes = useScenes();

/** How many attacks one repository suffers. */
const AT_ONCE = 10;
const IDENTITY = 'git -c user.name=a -c user.email=a@b -c protocol.file.allow=always';

/** Runs a script outside, as somebody whose git has no other configuration, and no terminal. */
function outsideAs(person: Person, cwd: string, script: string): string {
  const [program = '', ...args] = [...as(person), 'sh', '-c', script];
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 60_000,
  });
}

/** A repository with a remote, a worktree, a submodule, attributes of its own, and programs outside. */
function makeRepository(person: Person): Scene {
  const scene = makeScene(scenes.path, person);
  const script = `exec 2>/dev/null
    cd ${scene.outside}; printf '#!/bin/sh\\ntouch "$(dirname "$0")/ran-$(basename "$0")"; false\\n' > program; chmod +x program
    for i in $(seq 0 ${AT_ONCE}); do ln program $i; done
    git init -q --bare up; git init -q part; ${IDENTITY} -C part commit -q --allow-empty -m part
    cd ${scene.work}; echo '* diff=evil filter=evil merge=evil' > .gitattributes; echo 1 > file; git add -A
    ${IDENTITY} submodule add -q --name deep/sub ${scene.outside}/part sub; ${IDENTITY} commit -qm first
    git remote add origin ${scene.outside}/up; git push -qu origin HEAD:main; git branch -m main
    git worktree add -q tree; mkdir evil-hooks; git init -q --bare evil.git`;
  outsideAs(person, scene.work, `${script}; true`);
  return scene;
}

/** A hook, and a repository, of the command's own: as an attack would first make them. */
const preparations = (ran: string) => `mkdir -p evil-hooks evil.git/hooks
for h in pre-commit post-checkout post-commit reference-transaction post-index-change pre-push; do
printf '#!/bin/sh\\n${ran}\\n' > evil-hooks/$h; chmod +x evil-hooks/$h; done
printf '[core]\\n\\tfsmonitor = ${ran}\\n' | tee evil-config >> evil.git/config; cp evil-hooks/pre-push evil.git/hooks/pre-receive`;

/** What its user does afterwards, in all three working trees. */
function useGit(person: Person, { work }: Scene): void {
  outsideAs(
    person,
    work,
    `for d in . tree sub; do (cd $d && git status; git diff; git log -p -1; echo 2 >> file; git add -A
    ${IDENTITY} commit -m next; git fetch --all; git checkout -b other; git checkout -; git pull; git push; git stash
    git last; git show-ref; git worktree list; git gc --auto); done; git submodule status; git submodule update; true`,
  );
}

/** Returns the numbers of the attacks whose programs were started. */
function started({ outside }: Scene): readonly number[] {
  const names = readdirSync(outside).filter((name) => name.startsWith('ran-'));
  return names.map((name) => Number(name.slice('ran-'.length)));
}

function attacksOn(scene: Scene, first: number): readonly SettingAttack[] {
  const all = Array.from({ length: AT_ONCE }, (_, index) => {
    return onSettings(`${scene.outside}/${index}`)[first + index];
  });
  return all.filter((attack) => attack !== undefined);
}

const script = (scene: Scene, attacks: readonly SettingAttack[]) =>
  attacks
    .map(({ command }, index) => `(\n${preparations(`${scene.outside}/${index}`)}\n${command}\n)`)
    .join('\n');

const names = onSettings('/ran').map(({ name }) => name);
const firsts = names.flatMap((_, index) => (index % AT_ONCE === 0 ? [index] : []));

describe('without a sandbox', () => {
  test('settings like these have programs started', () => {
    const scene = makeRepository(people[0]);
    const attacks = [
      'git config core.fsmonitor RAN',
      'git config core.hooksPath $PWD/evil-hooks',
      'git config diff.evil.textconv RAN',
      'git config filter.evil.clean RAN',
      'git config remote.origin.uploadpack RAN',
    ].map((command, index) => ({
      name: '',
      command: command.replace('RAN', `${scene.outside}/${index}`),
    }));
    outsideAs(people[0], scene.work, `${script(scene, attacks)}; true`);
    useGit(people[0], scene);
    expect(started(scene).length).toBeGreaterThan(1);
  });
});

describeForAll('%s', (person) => {
  test('there are sixty attacks and more', () => expect(names.length).toBeGreaterThanOrEqual(60));

  test.each(firsts)(
    'none of ten attacks from number %i on has an effect outside',
    async (first) => {
      const scene = makeRepository(person);
      const { work } = scene;
      const attacks = attacksOn(scene, first);
      const listed = () =>
        outsideAs(
          person,
          work,
          'git config --list --local; git -C sub config --list --local',
        ).split('\n');
      const before = new Set(listed());
      const options = { cwd: work, sandbox: 'workspace-write' };
      await runAs(person, scene, `exec 2>/dev/null\n${script(scene, attacks)}\ntrue`, options);
      // Inert settings that an attack made besides.
      const isInert = (line: string) =>
        /^(?:user\.name|extensions\.worktreeconfig|(?:branch\.main|remote\.foo)\..*)=/.test(line);
      expect(listed().filter((line) => !before.has(line) && !isInert(line))).toEqual([]);
      useGit(person, scene);
      expect(started(scene).map((index) => attacks[index]?.name)).toEqual([]);
      for (const name of ['commondir', 'info/attributes', 'objects/info/alternates']) {
        expect(existsSync(`${work}/.git/${name}`), name).toBe(false);
      }
      expect(readFileSync(`${work}/.git/worktrees/tree/commondir`, 'utf8')).toBe('../..\n');
      expect(readFileSync(`${work}/.git/worktrees/tree/gitdir`, 'utf8')).toBe(
        `${work}/tree/.git\n`,
      );
    },
  );
});
