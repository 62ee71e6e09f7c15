import type { TerminalUi } from '../../../terminal/ui.js';
import type { WorkspaceInput } from './schema.js';

/** Whether a command gets a terminal. */
type TerminalChoice =
  | { readonly kind: 'terminal'; readonly ui: TerminalUi }
  /** With what is said of it when one was asked for. */
  | { readonly kind: 'pipes'; readonly notice?: string };

/**
 * A terminal is for a person to look at and type into: without one there is none.
 *
 * @param off The switch that keeps all commands on pipes.
 */
export function chooseTerminal(
  { pty, async }: Pick<WorkspaceInput, 'pty' | 'async'>,
  ui: TerminalUi | undefined,
  off: string | undefined,
): TerminalChoice {
  if (!pty) return { kind: 'pipes' };
  if (async) return { kind: 'pipes', notice: noTerminal('nobody sees a background command') };
  if (off !== undefined) return { kind: 'pipes', notice: noTerminal(`${off}=1 is set`) };
  if (ui === undefined) return { kind: 'pipes', notice: noTerminal('there is no user interface') };
  return { kind: 'terminal', ui };
}

/** What is said when a terminal was asked for and there is none. */
export function noTerminal(why: string): string {
  return `Run without a terminal (pty): ${why}.`;
}
