import type { TerminalUi } from '../../../terminal/ui.js';
import type { WorkspaceInput } from './schema.js';

/** The choice between a terminal and pipes. */
type TerminalChoice =
  | { readonly kind: 'terminal'; readonly ui: TerminalUi }
  /** The notice is present when a terminal was asked for. */
  | { readonly kind: 'pipes'; readonly notice?: string };

/**
 * Chooses whether a command gets a terminal, which makes sense only with a person to look at it.
 *
 * @param off The environment variable that keeps all commands on pipes, if it is set.
 */
export function chooseTerminal(
  { pty, async }: Pick<WorkspaceInput, 'pty' | 'async'>,
  ui: TerminalUi | undefined,
  off: string | undefined,
): TerminalChoice {
  if (!pty) return { kind: 'pipes' };
  if (async) return { kind: 'pipes', notice: noTerminal('the user sees no background command') };
  if (off !== undefined) return { kind: 'pipes', notice: noTerminal(`${off}=1 is set`) };
  if (ui === undefined) return { kind: 'pipes', notice: noTerminal('there is no user interface') };
  return { kind: 'terminal', ui };
}

/** Says why a command has no terminal although one was asked for. */
export function noTerminal(why: string): string {
  return `Run without a terminal (pty): ${why}.`;
}
