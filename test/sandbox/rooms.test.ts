import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runHost, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { makeScene, people, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const [me] = people;
const RENEWED = 'The sandbox was made anew: its /tmp is empty, and its processes are out of reach.';

interface Look {
  readonly text: string;
  readonly renewed?: true;
}

/** What is found in a sandbox after `others` more have been made, twice. */
function lookAfter(others: number, left: string): Promise<Look[]> {
  const { home, outside } = makeScene(scenes.path, me);
  const env = { HOME: home, TMPDIR: home };
  return runHost<Look[]>('rooms', { args: [outside, left, String(others)], env });
}

test.each([
  'a process in the background',
  'a daemon',
  'a running command',
  'a detached command',
  'a shell',
])('S11: a sandbox with %s is kept', async (left) => {
  const looks = await lookAfter(34, left);
  for (const { text, renewed } of looks) {
    expect(text).toMatch(/^kept\n1\b/);
    expect(text).not.toContain(RENEWED);
    expect(renewed).toBeUndefined();
  }
});

test('S11: an empty sandbox stays while there are few', async () => {
  const looks = await lookAfter(20, 'nothing');
  expect(looks).toEqual([{ text: 'kept\n0\n' }, { text: 'kept\n0\n' }]);
});

test('S11: of many sandboxes, a replacement is reported to one command', async () => {
  const looks = await lookAfter(34, 'nothing');
  expect(looks).toEqual([{ text: '0\n', renewed: true }, { text: '0\n' }]);
});

test('S11: a sandbox that differs because of files is reported by every tool, once', async () => {
  const { home, work } = makeScene(scenes.path, me);
  const host = startHost('commands', { env: { HOME: home } });
  const options = { cwd: work, sandbox: { mode: 'workspace-write' } };
  const renewed = async (command: string) => {
    const { result } = await host.run(command, options);
    return result?.sandbox?.renewed;
  };
  expect(await renewed('echo kept >/tmp/kept')).toBeUndefined();
  expect(await renewed('cat /tmp/kept')).toBeUndefined();
  // What is kept from being written to, if it is there.
  execFileSync('mkdir', [`${work}/.claude`]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await renewed('! test -e /tmp/kept')).toBe(true);
  expect(await renewed('true')).toBeUndefined();
  host.child.stdin?.end();
  await host.ended;
});

test.each(['session', 'workspace', 'modes', 'plain'])(
  'S11: %s says in one line that a sandbox was made anew',
  async (contract) => {
    const { home, work } = makeScene(scenes.path, me);
    // A name that commands can make once, and not change then.
    const sandbox = { filesystem: { denyWrite: ['made'] } };
    const options = { contract, cwd: work, sandbox };
    const command = `[ -e made ] || echo kept >/tmp/kept; mkdir -p made; sleep 0.4`;
    const inputs = [command, command, 'true'].map((text) => {
      return contract === 'modes' ? { command: text, mode: 'default' } : { command: text };
    });
    const args = [options, ...inputs].map((one) => JSON.stringify(one));
    const answers = await runHost<{ text: string }[]>('tools', { args, env: { HOME: home } });
    const told = answers.map(({ text }) => text.match(new RegExp(RENEWED, 'g')) ?? []);
    expect({ answers, told }).toEqual({ answers, told: [[], [RENEWED], []] });
  },
);
