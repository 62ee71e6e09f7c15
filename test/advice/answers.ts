import {
  type BashTool,
  type BashToolOptions,
  CONTRACT_NAMES,
  type ContractName,
  createBashTool,
} from '../../src/index.js';
import { useDisposal } from '../support/disposal.js';

/** What a model reads of an answer, and what its runtime knows. */
export interface Read {
  /** All texts of the answer, as a model reads them. */
  readonly text: string;
  readonly isError: boolean;
  /** The exit code, from the receipt; undefined: there is none. */
  readonly exitCode: number | undefined;
}

/** Makes a tool of any contract, which is disposed of after its test. */
export function useTools(folder: {
  readonly path: string;
}): (contract: ContractName, options?: object) => BashTool {
  const keep = useDisposal();
  return (contract, options) =>
    keep(
      createBashTool({ contract, cwd: folder.path, graceMs: 300, ...options } as BashToolOptions),
    );
}

/** Calls a tool as a model does, by any input. */
export async function ask(tool: BashTool, input: object): Promise<Read> {
  const { text, isError, details } = await tool.answer(input);
  const isJson = text.startsWith('{');
  const shown = isJson ? Object.values(JSON.parse(text)).join('\n') : text;
  const outcome = (details as { receipt?: { outcome: { kind: string; exitCode?: number } } })
    ?.receipt?.outcome;
  return { text: shown, isError, exitCode: outcome?.exitCode };
}

/** The part of a text in the first parentheses of a pattern: what the text says, taken literally. */
export function said(text: string, pattern: RegExp): string {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Error(`expected ${pattern} in: ${text}`);
  return found;
}

export { CONTRACT_NAMES };
