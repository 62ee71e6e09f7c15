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

const KIB = 1024;

/**
 * Limits of output by which an answer is what common clients show a model, so that the contract itself cuts
 * what is longer, and says where all of it is. One given by the user replaces those of its contract.
 */
const outputDefaults: { readonly [Name in ContractName]: GivenOptions } = {
  modes: { maxOutputBytes: 32 * KIB, snipBytes: 14 * KIB },
  plain: { maxStdoutBytes: 20 * KIB, maxStderrBytes: 8 * KIB },
  // The limit of the contract for each stream fits as it is.
  session: {},
  workspace: { tailBytes: 32 * KIB, headBytes: 0 },
};

function outputLimits(contract: ContractName, given: GivenOptions): GivenOptions {
  const limits = outputDefaults[contract];
  return Object.keys(limits).some((name) => given[name] !== undefined) ? {} : limits;
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

/**
 * Returns the options of a server's tool.
 *
 * @param options Options of the contract; those in `shell` override them.
 * @param timeoutMs The timeout of calls that ask for none, in milliseconds. Default: the contract's.
 * @param maxCharacters The length of answers that the user asks for: the contract's own limits apply then.
 */
export function contractOptions(
  contract: ContractName,
  options: GivenOptions,
  shell: Partial<ShellOptions>,
  timeoutMs: number | undefined,
  maxCharacters: number | undefined,
): BashToolOptions {
  const timeout =
    timeoutMs === undefined ? {} : defaultTimeouts[contract](timeoutMs / 1000, options);
  // `createBashTool()` checks the options; the type of the union does not tell which contract they
  // belong to.
  const limits = maxCharacters === undefined ? outputLimits(contract, options) : {};
  const defaults = { ...taskDefaults[contract], ...limits };
  return { ...defaults, ...options, ...shell, ...timeout, contract } as BashToolOptions;
}
