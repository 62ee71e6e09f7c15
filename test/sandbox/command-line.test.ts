import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { makeScene, people, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const [me] = people;
const inSandbox = ['run', '--sandbox', 'workspace-write', '--no-input'];

test.each([[[]], [['--json']]])(
  'S12: forkline run prints denials on stderr, a line each: %j',
  async (flags) => {
    const { work, outside } = makeScene(scenes.path, me);
    // The error stands before more output than is looked at.
    const command = `touch ${outside}/new; head -c 2000000 /dev/zero | tr '\\0' x; rm ${outside}/file`;
    const { code, stdout, stderr } = await cli(...inSandbox, ...flags, '--cwd', work, command);
    expect(code).toBe(1);
    const advice = `Write to ${work} or ${work}/.git or /tmp (the sandbox's own) instead.`;
    const told = (name: string) =>
      `forkline: The sandbox denied: write ${outside}/${name} (allowWrite). ${advice}\n`;
    expect(stderr).toBe(told('new') + told('file'));
    expect(stdout.toString()).not.toContain('The sandbox denied');
  },
);

test('S12: no denials are printed where there were none', async () => {
  const { work } = makeScene(scenes.path, me);
  const { code, stdout, stderr } = await cli(...inSandbox, '--cwd', work, 'echo x > a; cat a');
  expect([code, stdout.toString(), stderr]).toEqual([0, 'x\n', '']);
});

test('S12: SECURITY.md says that there is a sandbox', () => {
  const text = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  expect(text).not.toMatch(/no sandbox/i);
  expect(text).toContain('docs/sandbox.md');
});

test('S12: forkline attach prints the denials of a detached command', async () => {
  const { home, work, outside } = makeScene(scenes.path, me);
  const env = ['--env', `HOME=${home}`];
  const started = await cli(...inSandbox, ...env, '--detach', '--cwd', work, `touch ${outside}/x`);
  const id = started.stdout.toString().trim();
  const { code, stderr } = await cli('attach', id);
  expect(code).toBe(1);
  expect(stderr).toContain(`forkline: The sandbox denied: write ${outside}/x (allowWrite).`);
});
