import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { createBashTool, type SandboxOption } from '../../src/index.js';

export const CONTRACTS = ['workspace', 'modes', 'session', 'plain'] as const;
export type ContractName = (typeof CONTRACTS)[number];

/** A tool as a model is given it. */
interface Definition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

/** The definitions of all tools that come with the contract's `bash`. */
export async function definitionsOf(
  folder: string,
  contract: ContractName,
  sandbox?: SandboxOption,
): Promise<readonly Definition[]> {
  const bash = createBashTool({ contract, cwd: folder, sandbox });
  const found =
    'taskOutput' in bash
      ? [bash, bash.taskOutput, bash.writeTask, bash.killTask, bash.listTasks]
      : [bash];
  const told = found.map(({ name, description, inputSchema }) => ({
    name,
    // The directory is the host's to choose.
    description: description.replaceAll(folder, '/srv/app'),
    inputSchema,
  }));
  await bash.dispose();
  return told;
}

export const tokensOf = (definitions: readonly Definition[]) =>
  definitions.reduce((sum, definition) => sum + encode(JSON.stringify(definition)).length, 0);

/** By the tokenizer of OpenAI's models since GPT-4o; others count a few per cent more or less. */
export const MOST_TOKENS = { workspace: 380, modes: 300, session: 1000, plain: 105 } as const;
