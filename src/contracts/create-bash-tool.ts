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

/** The contracts: what each takes, and the tool that it makes. */
interface Contracts {
  workspace: { options: WorkspaceOptions; tool: WorkspaceTool };
  modes: { options: ModesOptions; tool: ModesTool };
  session: { options: SessionOptions; tool: SessionTool };
  plain: { options: PlainOptions; tool: PlainTool };
}

/** The name of a contract. */
export type ContractName = keyof Contracts;

type OptionsOf<Name extends ContractName> = {
  readonly contract: Name;
} & Contracts[Name]['options'];

/** Which contract a tool follows, and that contract's options. */
export type BashToolOptions = { [Name in ContractName]: OptionsOf<Name> }[ContractName];

/** The tool that a contract makes. */
export type BashToolOf<Name extends ContractName> = Contracts[Name]['tool'];

const makers: {
  readonly [Name in ContractName]: (options: OptionsOf<Name>) => BashToolOf<Name>;
} = {
  workspace: createWorkspaceTool,
  modes: createModesTool,
  session: createSessionTool,
  plain: createPlainTool,
};

/** The names of the contracts. */
export const CONTRACT_NAMES = Object.keys(makers) as readonly ContractName[];

/**
 * Makes a shell tool for an agent. Each contract is one way in which such a tool is described to a
 * model and answers it; take the one that the model was taught.
 *
 * @example
 * const bash = createBashTool({ contract: 'workspace', cwd: '/srv/project' });
 * const answer = await bash.execute({ command: 'git status' }, { signal, onUpdate });
 *
 * The code of a contract is loaded with its first tool.
 *
 * @throws {InputError} The contract is not known, or an option is not valid.
 * @throws Error (`FORKLINE_UNSUPPORTED_PLATFORM`) No engine runs here, so no command of it ever could.
 * @throws {LaunchError} (`EMFILE`) There is no descriptor left to load it with; the next call tries again.
 */
export function createBashTool<Name extends ContractName>(
  options: OptionsOf<Name>,
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
