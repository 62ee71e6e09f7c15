import type { BashTool, ContractName } from '../../src/index.js';
import type { ask } from './answers.js';

/** What a case has to bring its situation about. */
export interface Kit {
  /** An empty folder of the case's own. */
  readonly folder: { readonly path: string; file(name: string): string };
  /** Makes a tool with that folder as its working directory. */
  readonly make: (contract: ContractName, options?: object) => BashTool;
  readonly ask: typeof ask;
  /** A folder outside of the working directory. */
  readonly outside: string;
}

/**
 * An advice in an answer, and a test that follows it. A new one goes into the list of its contract, or into
 * `general.ts` if it names nothing that could be followed literally.
 */
export interface AdviceCase {
  /** What the situation is. */
  readonly name: string;
  /** Matches the literal in `src`, with `…` for each value in it. */
  readonly says: RegExp;
  /** Makes it happen by a tool, takes the advice out of the answer, follows it, expects what it promises. */
  readonly follow: (kit: Kit) => Promise<void>;
}

/** The tool beside a contract's `bash` with this name. */
export function companion(tool: BashTool, name: string): BashTool {
  const found = tool.companions.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found;
}
