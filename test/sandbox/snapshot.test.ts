import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createBashTool } from '../../src/index.js';
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

interface Answer {
  readonly text: string;
  readonly isError?: boolean;
}

/** What a workspace tool with a snapshot answers to one command after the other. */
function ask(person: Person, { home, work }: Scene, options: object, ...commands: string[]) {
  const all = {
    contract: 'workspace',
    cwd: work,
    sandbox: 'workspace-write',
    shellSnapshot: true,
    ...options,
  };
  const args = [all, ...commands.map((command) => ({ command }))];
  return runHost<Answer[]>('tools', {
    args: args.map((each) => JSON.stringify(each)),
    under: as(person),
    env: { HOME: home },
  });
}

const RC = `
alias ll='echo listing'
greet() { echo "hello $1"; }
_inner() { echo inner; }
outer() { _inner; }
export FROM_RC=1
`;

describeForAll('%s', (person) => {
  test.each(['private', 'shared'])(
    'a command in a sandbox has what the rc file leaves, and gets no rights by it (tmp: %s)',
    async (tmp) => {
      const scene = makeScene(scenes.path, person);
      writeFileSync(`${scene.home}/.bashrc`, RC);
      const sandbox = { filesystem: { tmp } };
      const answers = await ask(
        person,
        scene,
        { sandbox },
        'll; greet you; outer; echo "$FROM_RC"',
        `echo out > ${scene.outside}/new; greet again`,
      );
      expect(answers[0]?.text).toMatch(/^listing\nhello you\ninner\n1\n/);
      expect(answers[1]?.text).toContain('Read-only file system');
      expect(answers[1]?.text).toContain('hello again');
      expect(existsSync(`${scene.outside}/new`)).toBe(false);
    },
  );

  test('the snapshot of a sandbox is read there, and not writable in it', async () => {
    const scene = makeScene(scenes.path, person);
    writeFileSync(`${scene.home}/.bashrc`, RC);
    const write =
      'f=$(find /tmp -name snapshot -type f); test -n "$f" && echo "evil() { :; }" >> $f';
    const [answer] = await ask(person, scene, {}, write);
    expect(answer?.text).toMatch(/snapshot: Read-only file system/);
  });

  test('an rc file that a command has written is as confined as commands', async () => {
    const scene = makeScene(scenes.path, person);
    const { work, outside, home } = scene;
    const rc = `echo out > ${outside}/file; cat ${home}/.ssh/id_rsa > ${work}/stolen; echo in > ${work}/read; own() { echo own; }`;
    writeFileSync(`${work}/dev.rc`, rc);
    const [answer] = await ask(person, scene, { shellSnapshot: { rcFile: 'dev.rc' } }, 'own');
    expect(answer?.text).toMatch(/^own\n/);
    expect(readFileSync(`${work}/read`, 'utf8')).toBe('in\n');
    expect(readFileSync(`${outside}/file`, 'utf8')).toBe('before\n');
    expect(readFileSync(`${work}/stolen`, 'utf8')).toBe('');
  });
});

test("a client's terminal is refused with a sandbox, since it would be outside", () => {
  const clientTerminal = { connection: { createTerminal: () => undefined }, sessionId: 'one' };
  const make = () =>
    createBashTool({
      contract: 'workspace',
      cwd: '/',
      sandbox: 'read-only',
      // @ts-expect-error Nobody asks it for a terminal.
      clientTerminal,
    });
  expect(make).toThrow(/^clientTerminal: expected none beside a sandbox/);
});
