import type { TerminalUi } from '../../../terminal/ui.js';
import type { WorkspaceInput } from './schema.js';

/** The choice between a terminal and pipes. */
type TerminalChoice =
  | { readonly kind: 'terminal'; readonly ui: TerminalUi }
  /** A terminal of the model's own. */
  | { readonly kind: 'own' }
  /** The notice is present when a terminal was asked for. */
  | { readonly kind: 'pipes'; readonly notice?: string };

/**
 * Chooses whether a command gets a terminal, which makes sense only where a person looks at it, or for a job, the
 * model.
 *
 * @param off The environment variable that keeps all commands on pipes, if it is set.
 */
export function chooseTerminal(
  { pty, async }: Pick<WorkspaceInput, 'pty' | 'async'>,
  ui: TerminalUi | undefined,
  off: string | undefined,
): TerminalChoice {
  if (!pty) return { kind: 'pipes' };
  if (off !== undefined) return { kind: 'pipes', notice: noTerminal(`${off}=1 is set`) };
  if (async) return { kind: 'own' };
  if (ui === undefined) return { kind: 'pipes', notice: noTerminal('there is no user interface') };
  return { kind: 'terminal', ui };
}

/** Says why a command has no terminal although one was asked for. */
export function noTerminal(why: string): string {
  return `Run without a terminal (pty): ${why}.`;
}
