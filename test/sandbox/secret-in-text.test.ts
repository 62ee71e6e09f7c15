import { expect, test } from 'vitest';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, describeForAll, makeScene, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

const VALUE = 'ghp_0123456789abcdefABCDEF0123456789abcd';

describeForAll('%s', (person) => {
  test("a command with a secret's value in its text is refused, by the name of the secret", async () => {
    const scene = makeScene(scenes.path, person);
    const sandbox = { secrets: { TOKEN: { value: VALUE, domains: ['localhost'] } } };
    const run = runAs(person, scene, `echo ${VALUE}`, { cwd: scene.work, sandbox });
    const error = await run.catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: 'InputError' });
    expect(error).toHaveProperty('message', expect.stringContaining('expected $TOKEN instead'));
    expect(String(error)).not.toContain(VALUE);
  });

  test('a call of a persistent shell is refused, and so is a detached command', async () => {
    const { home, work: cwd } = makeScene(scenes.path, person);
    const sandbox = { secrets: { TOKEN: { value: VALUE, domains: ['localhost'] } } };
    const told = (options: object, ...inputs: object[]) => {
      const args = [{ cwd, sandbox, ...options }, ...inputs].map((each) => JSON.stringify(each));
      return runHost<{ text: string }[]>('tools', { args, under: as(person), env: { HOME: home } });
    };
    const command = `echo ${VALUE}`;
    const answers = [
      ...(await told(
        { contract: 'session', persistent: true },
        { command },
        { command: 'echo on' },
      )),
      ...(await told({ contract: 'modes' }, { command, mode: 'background' })),
    ];
    const refused = expect.stringContaining('expected $TOKEN instead');
    expect(answers.map(({ text }) => text)).toEqual([refused, 'on', refused]);
    expect(JSON.stringify(answers)).not.toContain(VALUE);
  });
});
