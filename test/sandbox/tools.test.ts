import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/index.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  makeScene,
  type Person,
  type Scene,
  useScenes,
} from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

interface Answer {
  readonly text: string;
  readonly isError?: boolean;
}

/** What a tool of somebody answers to one input after the other. */
function ask(person: Person, { home }: Scene, options: object, ...inputs: object[]) {
  const args = [options, ...inputs].map((each) => JSON.stringify(each));
  return runHost<Answer[]>('tools', { args, under: as(person), env: { HOME: home } });
}

describeForAll('%s', (person) => {
  test.each(CONTRACT_NAMES)('a tool of %s runs its commands in its sandbox', async (contract) => {
    const scene = makeScene(scenes.path, person);
    const options = { contract, cwd: scene.work, sandbox: 'workspace-write' };
    const command = `echo in > new; echo out > ${scene.outside}/new; cat ${scene.home}/.ssh/id_rsa; pwd`;
    const [answer] = await ask(person, scene, options, { command });
    expect(answer?.text).toContain(scene.work);
    expect(answer?.text).toContain('Read-only file system');
    expect(answer?.text).not.toContain('secret');
    expect(readFileSync(`${scene.work}/new`, 'utf8')).toBe('in\n');
    expect(existsSync(`${scene.outside}/new`)).toBe(false);
  });

  test.each([false, true])(
    "a session follows its commands' directory, but gets no rights by it (persistent: %s)",
    async (persistent) => {
      const scene = makeScene(scenes.path, person);
      const { work: cwd, outside } = scene;
      const options = { contract: 'session', cwd, persistent, sandbox: 'workspace-write' };
      const answers = await ask(
        person,
        scene,
        options,
        { command: 'mkdir sub; cd sub; export HERE=1; echo 1 > one && pwd' },
        { command: `pwd; cd ${outside} && pwd` },
        { command: 'pwd; echo out > new; sleep 100 & cd -' },
        { command: 'echo end' },
      );
      expect(answers[0]?.text).toContain(`${cwd}/sub`);
      expect(answers[1]?.text).toContain(`${cwd}/sub\n${outside}`);
      expect(answers[2]?.text).toMatch(/Read-only file system/);
      expect(answers[3]?.text).toContain('end');
      expect(existsSync(`${outside}/new`)).toBe(false);
    },
  );

  test('a directory that a call names is no workspace', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { contract: 'workspace', cwd: scene.work, sandbox: 'workspace-write' };
    const inputs = [
      { command: 'echo out > new', cwd: scene.outside },
      { command: `cd ${scene.outside} && echo out > new` },
    ];
    const answers = await ask(person, scene, options, ...inputs);
    expect(answers.map(({ text }) => text.includes('Read-only'))).toEqual([true, true]);
  });

  test('a file with a whole output is visible at the path in the answer', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { contract: 'modes', cwd: scene.work, sandbox: 'workspace-write' };
    const command = `seq 100000 | tee /dev/stderr; echo here > /tmp/own`;
    const read = `f=$(find /tmp -type f -size +100k); tail -n1 $f; echo x >> $f; cat /tmp/own`;
    const answers = await ask(person, scene, options, { command }, { command: read });
    expect(answers[0]?.text).toMatch(/\/tmp\/\S+/);
    expect(answers[1]?.text).toMatch(/^100000\n.*Read-only.*\nhere$/m);
  });

  test('forkline run --sandbox', () => {
    const { home, work, outside } = makeScene(scenes.path, person);
    const [program = '', ...args] = [
      ...as(person),
      ...[process.execPath, cli, 'run', '--sandbox', 'workspace-write', '--cwd', work, '--'],
      ...['sh', '-c', `echo in > new; echo out > ${outside}/new; echo hi`],
    ];
    const env = { ...process.env, HOME: home };
    const output = execFileSync(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    expect(output.toString()).toMatch(/Read-only file system\nhi\n$/);
    expect(existsSync(`${work}/new`)).toBe(true);
    expect(existsSync(`${outside}/new`)).toBe(false);
  });
});
