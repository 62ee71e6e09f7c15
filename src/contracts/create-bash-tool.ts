import { engineName } from '../engine/choice.js';
import { checkObject } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { ModesOptions } from './modes/options.js';
import { createModesTool, type ModesTool } from './modes/tool.js';
import type { PlainOptions } from './plain/options.js';
import { createPlainTool, type PlainTool } from './plain/tool.js';
import type { SessionOptions } from './session/options.js';
import { createSessionTool, type SessionTool } from './session/tool.js';
import type { WorkspaceOptions } from './workspace/options.js';
import { createWorkspaceTool, type WorkspaceTool } from './workspace/tool.js';

/** The contracts, each with its options and its tool. */
interface Contracts {
  workspace: { options: WorkspaceOptions; tool: WorkspaceTool };
  modes: { options: ModesOptions; tool: ModesTool };
  session: { options: SessionOptions; tool: SessionTool };
  plain: { options: PlainOptions; tool: PlainTool };
}

/** The name of a contract. */
export type ContractName = keyof Contracts;

type ContractOptionsOf<Name extends ContractName> = {
  readonly contract: Name;
} & Contracts[Name]['options'];

/** The name of a contract, and that contract's options. */
export type BashToolOptions = { [Name in ContractName]: ContractOptionsOf<Name> }[ContractName];

/** The tool of a contract. */
export type BashToolOf<Name extends ContractName> = Contracts[Name]['tool'];

const makers: {
  readonly [Name in ContractName]: (options: ContractOptionsOf<Name>) => BashToolOf<Name>;
} = {
  workspace: createWorkspaceTool,
  modes: createModesTool,
  session: createSessionTool,
  plain: createPlainTool,
};

/** The names of the contracts. */
export const CONTRACT_NAMES = Object.keys(makers) as readonly ContractName[];

/**
 * Makes a shell tool for an agent. A contract is one way to describe such a tool to a model and to answer
 * the model; take the one that the model was trained on.
 *
 * @example
 * const bash = createBashTool({ contract: 'workspace', cwd: '/srv/project' });
 * const answer = await bash.execute({ command: 'git status' }, { signal, onUpdate });
 *
 * The code of a contract is loaded with its first tool.
 *
 * @throws {InputError} The contract is not known, or an option is not valid.
 * @throws Error (`FORKLINE_UNSUPPORTED_PLATFORM`) No engine runs on this platform.
 * @throws {LaunchError} (`EMFILE`) No descriptor is left to load the contract; the next call tries again.
 */
export function createBashTool<Name extends ContractName>(
  options: ContractOptionsOf<Name>,
): BashToolOf<Name> {
  checkObject('options', options);
  const { contract } = options;
  if (!Object.hasOwn(makers, contract)) {
    const names = CONTRACT_NAMES.map((name) => `"${name}"`).join(' or ');
    throw new InputError(`contract: expected ${names}, got ${showValue(contract)}`);
  }
  engineName();
  return makers[contract](options);
}
