import type { BashToolOptions, ContractName, ShellOptions } from '../index.js';

/** Options of a contract, as they were given: they are checked where the tool is made. */
type GivenOptions = Readonly<Record<string, unknown>>;

/** How each contract is told of the timeout of calls that ask for none. */
const defaultTimeouts: {
  readonly [Name in ContractName]: (seconds: number, options: GivenOptions) => GivenOptions;
} = {
  modes: (seconds, { timeouts }) => ({ timeouts: { ...objectOf(timeouts), default: seconds } }),
  plain: (seconds) => ({ timeout: seconds }),
  session: (seconds) => ({ timeoutMs: Math.round(seconds * 1000) }),
  workspace: (seconds, { timeout }) => ({ timeout: { ...objectOf(timeout), default: seconds } }),
};

/**
 * What takes longer goes on as a task, and is answered before the client gives up: most do after 60
 * seconds.
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
 * Options of the tool of a contract, for a server.
 *
 * @param options Of the contract; what `shell` has goes before them.
 * @param timeoutMs For calls that ask for none. Default: the contract's.
 */
export function contractOptions(
  contract: ContractName,
  options: GivenOptions,
  shell: Partial<ShellOptions>,
  timeoutMs: number | undefined,
): BashToolOptions {
  const timeout =
    timeoutMs === undefined ? {} : defaultTimeouts[contract](timeoutMs / 1000, options);
  // What the options are is checked there; a union of contracts loses sight of whose they are.
  const defaults = taskDefaults[contract];
  return { ...defaults, ...options, ...shell, ...timeout, contract } as BashToolOptions;
}
