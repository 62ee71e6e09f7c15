import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  give,
  makeScene,
  type Person,
  type Scene,
  useScenes,
} from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

/** Runs commands one after the other, in one host and so in the same sandbox; what each has printed. */
async function runAll(person: Person, { home }: Scene, options: object, ...commands: string[]) {
  const host = startHost('commands', { under: as(person), env: { HOME: home } });
  const texts: string[] = [];
  for (const command of commands) {
    const { result, error } = await host.run(command, { timeoutMs: 50_000, ...options });
    if (result?.output.kind !== 'complete') throw new Error(error?.message ?? 'too much output');
    texts.push(result.output.text);
  }
  host.child.stdin?.end();
  await host.ended;
  return texts;
}

describeForAll('%s', (person) => {
  test.each([
    ['a directory', 'secrets/.env', [], 'mv secrets s2', 's2/.env'],
    ['one further above', 'a/b/.env', [], 'mv a a2', 'a2/b/.env'],
    ['one above a writable one', 'a/b/.env', ['a/b'], 'mv a a2', 'a2/b/.env'],
  ])(
    'S6: %s of hidden files in the workspace stays in its place',
    async (_, hidden, allowWrite, move, moved) => {
      const scene = makeScene(scenes.path, person);
      const { work } = scene;
      mkdirSync(`${work}/${hidden.slice(0, hidden.lastIndexOf('/'))}`, { recursive: true });
      writeFileSync(`${work}/${hidden}`, 'the secret key\n');
      give(person, work);
      const options = { cwd: work, sandbox: { filesystem: { denyRead: [hidden], allowWrite } } };
      const [first, second] = await runAll(
        person,
        scene,
        options,
        `cat ${hidden}; ${move}`,
        `cat ${hidden} ${moved}`,
      );
      expect(first).toMatch(/Permission denied\n.*Device or resource busy\n$/);
      expect(second).toMatch(/Permission denied\n.*No such file or directory\n$/);
      expect(existsSync(`${work}/${hidden}`)).toBe(true);
    },
  );
});
