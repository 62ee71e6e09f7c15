import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { createBashTool, type SandboxOption } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

const CONTRACTS = ['workspace', 'modes', 'session', 'plain'] as const;
type ContractName = (typeof CONTRACTS)[number];

/** A tool as a model is given it. */
interface Definition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

/** The definitions of all tools that come with the contract's `bash`. */
async function definitionsOf(
  contract: ContractName,
  sandbox?: SandboxOption,
): Promise<readonly Definition[]> {
  const bash = createBashTool({ contract, cwd: folder.path, sandbox });
  const found =
    'taskOutput' in bash
      ? [bash, bash.taskOutput, bash.writeTask, bash.killTask, bash.listTasks]
      : [bash];
  const told = found.map(({ name, description, inputSchema }) => ({
    name,
    // The directory is the host's to choose.
    description: description.replaceAll(folder.path, '/srv/app'),
    inputSchema,
  }));
  await bash.dispose();
  return told;
}

const tokensOf = (definitions: readonly Definition[]) =>
  definitions.reduce((sum, definition) => sum + encode(JSON.stringify(definition)).length, 0);

/** By the tokenizer of OpenAI's models since GPT-4o; others count a few per cent more or less. */
const MOST_TOKENS = { workspace: 380, modes: 300, session: 1000, plain: 105 } as const;

/** What the line about a sandbox may take besides. */
const FOR_A_SANDBOX = 30;

describe.each(CONTRACTS)('the definition of %s', (contract) => {
  test('is lean', async () => {
    expect(tokensOf(await definitionsOf(contract))).toBeLessThanOrEqual(MOST_TOKENS[contract]);
  });

  test('names a sandbox in few words', async () => {
    const definitions = await definitionsOf(contract, 'workspace-write');
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
    const [bash] = await definitionsOf(contract, sandbox);
    if (said === undefined) expect(bash?.description).not.toContain('sandbox');
    else expect(bash?.description).toContain(said);
  });
});
