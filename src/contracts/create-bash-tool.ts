import { InputError, showValue } from '../pipeline/input-error.js';
import { createWorkspaceTool, type WorkspaceTool } from './workspace.js';
import type { WorkspaceOptions } from './workspace-options.js';

/** Which contract a tool follows, and that contract's options. */
export type BashToolOptions = { readonly contract: 'workspace' } & WorkspaceOptions;

/**
 * Makes a shell tool for an agent. Each contract is one way in which such a tool is described to a
 * model and answers it; take the one that the model was taught.
 *
 * @example
 * const bash = createBashTool({ contract: 'workspace', cwd: '/srv/project' });
 * const answer = await bash.execute({ command: 'git status' }, { signal, onUpdate });
 *
 * @throws {InputError} The contract is not known, or an option is not valid.
 */
export function createBashTool(options: BashToolOptions): WorkspaceTool {
  switch (options.contract) {
    case 'workspace':
      return createWorkspaceTool(options);
    default:
      throw new InputError(`contract: expected "workspace", got ${showValue(options.contract)}`);
  }
}
