import {
  type BashTool,
  type BashToolOptions,
  type ContractName,
  createBashTool,
  type ShellOptions,
} from '../index.js';

type OptionsOf<Name extends ContractName> = Omit<
  Extract<BashToolOptions, { contract: Name }>,
  'contract' | keyof ShellOptions
>;

/** How each contract is told of the timeout of calls that ask for none. */
const defaultTimeouts: {
  readonly [Name in ContractName]: (seconds: number) => OptionsOf<Name>;
} = {
  modes: (seconds) => ({ timeouts: { default: seconds } }),
  plain: (seconds) => ({ timeout: seconds }),
  session: (seconds) => ({ timeoutMs: Math.round(seconds * 1000) }),
  workspace: (seconds) => ({ timeout: { default: seconds } }),
};

/**
 * Makes the tool of a contract for a server.
 *
 * @param timeoutMs For calls that ask for none. Default: the contract's.
 * @throws {InputError} An option is not valid.
 */
export function createContractTool(
  contract: ContractName,
  shell: ShellOptions,
  timeoutMs: number | undefined,
): BashTool {
  const timeout = timeoutMs === undefined ? {} : defaultTimeouts[contract](timeoutMs / 1000);
  // The table gives each contract its own options, which a union of names loses sight of.
  return createBashTool({ contract, ...shell, ...timeout } as BashToolOptions);
}
