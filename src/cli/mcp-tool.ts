import type { BashToolOptions, ContractName, ShellOptions } from '../index.js';

/** Options of a contract as they were given; the tool checks them. */
type GivenOptions = Readonly<Record<string, unknown>>;

/** The option of each contract for the timeout of calls that ask for none. */
const defaultTimeouts: {
  readonly [Name in ContractName]: (seconds: number, options: GivenOptions) => GivenOptions;
} = {
  modes: (seconds, { timeouts }) => ({ timeouts: { ...objectOf(timeouts), default: seconds } }),
  plain: (seconds) => ({ timeout: seconds }),
  session: (seconds) => ({ timeoutMs: Math.round(seconds * 1000) }),
  workspace: (seconds, { timeout }) => ({ timeout: { ...objectOf(timeout), default: seconds } }),
};

/**
 * Longer calls go on as tasks, and are answered before clients give up: most do after 60 seconds.
 */
const ANSWERED_WITHIN_MS = 50_000;

const taskDefaults: { readonly [Name in ContractName]: GivenOptions } = {
  modes: { tasks: {} },
  plain: {},
  session: { autoBackgroundMs: ANSWERED_WITHIN_MS },
  workspace: { autoBackground: { afterMs: ANSWERED_WITHIN_MS } },
};

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

/**
 * Returns the options of a server's tool.
 *
 * @param options Options of the contract; those in `shell` override them.
 * @param timeoutMs The timeout of calls that ask for none, in milliseconds. Default: the contract's.
 */
export function contractOptions(
  contract: ContractName,
  options: GivenOptions,
  shell: Partial<ShellOptions>,
  timeoutMs: number | undefined,
): BashToolOptions {
  const timeout =
    timeoutMs === undefined ? {} : defaultTimeouts[contract](timeoutMs / 1000, options);
  // `createBashTool()` checks the options; the type of the union does not tell which contract they
  // belong to.
  const defaults = taskDefaults[contract];
  return { ...defaults, ...options, ...shell, ...timeout, contract } as BashToolOptions;
}
