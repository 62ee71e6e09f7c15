import { describe, expect, test } from 'vitest';
import type { SandboxExec, SandboxOption } from '../../src/index.js';
import { CONTRACTS, definitionsOf, MOST_TOKENS, tokensOf } from '../support/definitions.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

/** What the line about a sandbox may take besides. */
const FOR_A_SANDBOX = 30;

const many = ['a', 'b', 'c', 'd', 'e'];

/** Rules for programs, and what is said of them. */
const PROGRAMS: readonly (readonly [SandboxExec, string])[] = [
  [
    {
      rules: [
        { program: 'git', argv: ['push'], answer: 'ask' },
        { program: ['rm', '/bin/dd'], argv: [/^-\w*r/i, { matches: 'x' }], answer: 'deny' },
      ],
    },
    'may not run `rm /^-\\w*r/i /x/`, `/bin/dd /^-\\w*r/i /x/`, and run `git push` only if the user allows it',
  ],
  [{ rules: [{ program: many, answer: 'deny' }] }, 'may not run `a`, `b`, `c`, 2 more'],
  [{ rules: [{ argv: ['x'.repeat(80)], answer: 'deny' }] }, `may not run \`* ${'x'.repeat(58)}…\``],
  [
    { rules: [{ program: 'npm', answer: 'allow' }], otherwise: 'deny' },
    'may run no programs but `npm`',
  ],
  [
    {
      rules: [
        { program: 'npm', answer: 'allow' },
        { program: 'rm', answer: 'deny' },
        { answer: 'ask' },
      ],
    },
    'run no programs but `npm` unless the user allows it, and may not run `rm`',
  ],
];

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
    ...PROGRAMS.map(([exec, rule]): [SandboxOption, string] => [
      { mode: 'danger-full-access', exec },
      `Commands run in a sandbox: they ${rule}.`,
    ]),
    [{ mode: 'danger-full-access', exec: { record: true } }, undefined],
    [
      { network: 'full', exec: { rules: [{ program: 'rm', answer: 'deny' }] } },
      'a /tmp of their own, and may not run `rm`.',
    ],
  ])('in the sandbox %j says what it allows', async (sandbox, said) => {
    const [bash] = await definitionsOf(folder.path, contract, sandbox);
    if (said === undefined) expect(bash?.description).not.toContain('sandbox');
    else expect(bash?.description).toContain(said);
  });
});
