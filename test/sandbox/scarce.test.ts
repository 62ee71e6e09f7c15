import { expect, test } from 'vitest';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { makeScene, people, useScenes } from '../support/sandbox.js';

// What a sandbox comes to whose host has hardly a descriptor left.
leavesNothingBehind();
const scenes = useScenes();

/** What the host `scarce` tells of a command. */
interface Told {
  readonly text?: string;
  readonly network?: string;
  readonly unseen?: readonly string[];
  readonly code?: string;
  readonly step?: string;
}

/** The proxy says that the name is nobody's. */
const served = { text: '502', network: 'proxy' };
/** With some the command fails while its sandbox is made, or later (Q13): as it happens, so more than once. */
const LEFT = [12, 13, 14, 14, 14, 15, 15, 15, 16, 18, 20, 22, 26];

/** What comes of a command that has the proxy, by how many descriptors its host has left. */
async function askWith(require: string): Promise<[Told, Told][]> {
  const { work: cwd } = makeScene(scenes.path, people[0]);
  const sandbox = { network: { allowedDomains: ['one.example'] }, require };
  const ask = 'curl -sS -o /dev/null -w "%{http_code}" http://one.example/ 2>/dev/null; true';
  const told: [Told, Told][] = [];
  for (const left of LEFT) {
    const args = [ask, JSON.stringify({ cwd, sandbox }), String(left)];
    told.push(await runHost<[Told, Told]>('scarce', { args, under: ['prlimit', '--nofile=100'] }));
  }
  return told;
}

test('a sandbox whose proxy cannot be served is refused, and the next command has one', async () => {
  const told = await askWith('all');
  const refused = { code: 'ECONNREFUSED', step: 'sandbox' };
  for (const [first, second] of told) {
    const isEarlier = first.code === 'EMFILE';
    expect([first, second]).toMatchObject([
      first.code === undefined ? served : isEarlier ? { code: 'EMFILE' } : refused,
      served,
    ]);
  }
  expect(told.map(([first]) => first.step)).toContain('sandbox');
});

test('with best-effort the result says that there is no sandbox, until there is one', async () => {
  const told = await askWith('best-effort');
  const without = {
    text: '000',
    network: 'namespace',
    unseen: [expect.stringMatching(/^its proxy did not run/)],
  };
  for (const [first, second] of told) {
    const ran = first.network === 'proxy' ? served : without;
    expect([first, second]).toEqual([
      first.code === undefined ? ran : expect.objectContaining({ code: 'EMFILE' }),
      served,
    ]);
  }
  expect(told.map(([first]) => first.network)).toContain('namespace');
});
