import { isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';

/** The size of a terminal, in characters. */
export interface TerminalSize {
  /** Characters in a row. */
  readonly columns: number;
  /** Rows. */
  readonly rows: number;
}

/** Whether a command runs on a terminal, or the size of that terminal. Default size: 120 by 40. */
export type PtyOption = boolean | Partial<TerminalSize>;

const SIZE_NAMES: OptionNames<TerminalSize> = { columns: true, rows: true };

/** The size of a terminal for which none is given. */
export const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 40 };

/** The smallest and the largest size of a terminal. */
const TERMINAL_LIMITS = { columns: [20, 400], rows: [5, 200] } as const;

/**
 * Returns the size of the terminal for a value of `pty`; undefined: no terminal is asked for.
 *
 * @throws {InputError} `pty` is neither a boolean nor a size, or the size is out of range.
 */
export function terminalSize(pty: unknown): TerminalSize | undefined {
  if (pty === undefined || pty === false) return undefined;
  if (pty === true) return DEFAULT_SIZE;
  if (typeof pty !== 'object' || pty === null) {
    throw new InputError(`pty: expected a boolean or a size, got ${showValue(pty)}`);
  }
  readOptions<Partial<TerminalSize>>('pty', pty, SIZE_NAMES, { within: 'pty.' });
  const size = { ...DEFAULT_SIZE };
  for (const name of ['columns', 'rows'] as const) {
    const value = (pty as Partial<TerminalSize>)[name];
    if (!isMissing(value)) size[name] = checkExtent(name, value, 'pty.');
  }
  return size;
}

/**
 * Checks `pty` and the options beside it: a terminal is one stream, and its input is typed.
 *
 * @throws {InputError} `pty` is no size, or an option is given that excludes a terminal.
 */
export function checkPty(
  pty: unknown,
  { streams, input }: { readonly streams?: unknown; readonly input?: unknown },
): void {
  if (terminalSize(pty) === undefined) return;
  const fail = (name: string, expected: string, value: unknown): never => {
    throw new InputError(`${name}: expected ${expected}, got ${showValue(value)}`);
  };
  if (streams === 'separate') {
    fail('streams', "'merged' beside pty, since a terminal is one stream", streams);
  }
  if (input !== undefined) {
    fail('input', 'nothing beside pty: use spawn(), and write() the input', input);
  }
}

/**
 * Checks and returns a number of columns or rows.
 *
 * @param within The prefix of the name in messages, such as `pty.`.
 * @throws {InputError} `value` is not a whole number in range.
 */
export function checkExtent(name: 'columns' | 'rows', value: unknown, within = ''): number {
  const [least, most] = TERMINAL_LIMITS[name];
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) {
    return Number(value);
  }
  const expected = `a whole number from ${least} to ${most}`;
  throw new InputError(`${within}${name}: expected ${expected}, got ${showValue(value)}`);
}

/** Returns the allowed size of a terminal that is nearest to this one. */
export function nearestSize({ columns, rows }: TerminalSize): TerminalSize {
  return { columns: clamp(columns, 'columns'), rows: clamp(rows, 'rows') };
}

function clamp(value: number, name: 'columns' | 'rows'): number {
  const [least, most] = TERMINAL_LIMITS[name];
  return Math.min(most, Math.max(least, Math.floor(value) || least));
}

/** Variables of a command with `pty`, whatever terminal the host itself is on. */
export const TERMINAL_DEFAULTS: Readonly<Record<string, string>> = { TERM: 'xterm-256color' };

/** Variables with the size of the host's terminal, which programs would prefer to the real size. */
const HOST_SIZE = { COLUMNS: undefined, LINES: undefined };

type Overrides = Readonly<Record<string, string | undefined>> | undefined;

/** Returns a caller's variables for a command on a terminal, without the size of the host's terminal. */
export function overTerminal(overrides: Overrides): Overrides {
  // The variables are checked later: a value that is no object is returned unchanged.
  if (overrides !== undefined && (typeof overrides !== 'object' || overrides === null)) {
    return overrides;
  }
  return { ...HOST_SIZE, ...overrides };
}
