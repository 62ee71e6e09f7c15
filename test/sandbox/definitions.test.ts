import { describe, expect, test } from 'vitest';
import type { SandboxOption } from '../../src/index.js';
import { CONTRACTS, definitionsOf, MOST_TOKENS, tokensOf } from '../support/definitions.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

/** What the line about a sandbox may take besides. */
const FOR_A_SANDBOX = 30;

describe.each(CONTRACTS)('the definition of %s', (contract) => {
  test('names a sandbox in few words', async () => {
    const definitions = await definitionsOf(folder.path, contract, 'workspace-write');
    expect(definitions[0]?.description).toContain(
      'Commands run in a sandbox: they write only to /srv/app, a /tmp of their own, and have no network.',
    );
    const most = MOST_TOKENS[contract] + FOR_A_SANDBOX;
    expect(tokensOf(definitions)).toBeLessThanOrEqual(most);
  });

  test.each<[SandboxOption, string | undefined]>([
    ['danger-full-access', undefined],
    ['read-only', 'they write only to a /tmp of their own, and have no network.'],
    [{ mode: 'read-only', filesystem: { tmp: 'shared' } }, 'they write no files, and have no'],
    [{ network: 'full' }, 'they write only to /srv/app, a /tmp of their own.'],
    [
      { network: { allowedDomains: ['a.org', 'b.org', 'c.org', 'd.org', 'e.org'] } },
      'and reach only a.org, b.org, c.org, 2 more.',
    ],
    [{ filesystem: { allowWrite: ['~/.cache'] } }, '/srv/app, ~/.cache, a /tmp of their own, and'],
    [{ mode: 'danger-full-access', processes: 'own' }, undefined],
    [{ mode: 'danger-full-access', network: 'none' }, 'in a sandbox: they have no network.'],
    [
      { mode: 'danger-full-access', filesystem: { denyWrite: ['/etc'] } },
      "sandbox: they can't write to /etc.",
    ],
  ])('in the sandbox %j says what it allows', async (sandbox, said) => {
    const [bash] = await definitionsOf(folder.path, contract, sandbox);
    if (said === undefined) expect(bash?.description).not.toContain('sandbox');
    else expect(bash?.description).toContain(said);
  });
});
