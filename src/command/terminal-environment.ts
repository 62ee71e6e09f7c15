/** Variables of a command on a terminal of ours, whatever terminal the host itself is on. */
export const TERMINAL_DEFAULTS: Readonly<Record<string, string>> = { TERM: 'xterm-256color' };

/** Tell the size of the host's terminal, where there is one; programs take their word for it. */
const OF_THE_HOST = { COLUMNS: undefined, LINES: undefined };

type Overrides = Readonly<Record<string, string | undefined>> | undefined;

/** A caller's variables for a command on a terminal: without what is true of another one. */
export function overTerminal(overrides: Overrides): Overrides {
  // A check of the variables has yet to come: what is not an object stays what it is.
  if (overrides !== undefined && (typeof overrides !== 'object' || overrides === null)) {
    return overrides;
  }
  return { ...OF_THE_HOST, ...overrides };
}
