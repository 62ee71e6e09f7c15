import { isMissing, type OptionNames, readOptions } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';

/** The size of a terminal, in characters. */
export interface TerminalSize {
  /** Characters in a row. */
  readonly columns: number;
  /** Rows. */
  readonly rows: number;
}

/** A terminal for a command; its size, where it is not to be 120 by 40. */
export type PtyOption = boolean | Partial<TerminalSize>;

const SIZE_NAMES: OptionNames<TerminalSize> = { columns: true, rows: true };
const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 40 };

/** The sizes that a terminal may have, both ends included. */
const TERMINAL_LIMITS = { columns: [20, 400], rows: [5, 200] } as const;

/**
 * The size of the terminal that is asked for; undefined: none is.
 *
 * @throws {InputError} It is no size, or out of range.
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
 * Checks what stands beside a terminal, which is one thing for input and output.
 *
 * @throws {InputError} It is no size, or not alone.
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
 * @param within What the name stands in, such as `pty.`.
 * @throws {InputError} It is not a whole number in range.
 */
export function checkExtent(name: 'columns' | 'rows', value: unknown, within = ''): number {
  const [least, most] = TERMINAL_LIMITS[name];
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) {
    return Number(value);
  }
  const expected = `a whole number from ${least} to ${most}`;
  throw new InputError(`${within}${name}: expected ${expected}, got ${showValue(value)}`);
}

/** The size nearest to this one that a terminal may have. */
export function nearestSize({ columns, rows }: TerminalSize): TerminalSize {
  return { columns: clamp(columns, 'columns'), rows: clamp(rows, 'rows') };
}

function clamp(value: number, name: 'columns' | 'rows'): number {
  const [least, most] = TERMINAL_LIMITS[name];
  return Math.min(most, Math.max(least, Math.floor(value) || least));
}

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
