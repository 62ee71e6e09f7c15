import type { CommandOptions } from '../../index.js';
import { isMissing, type OptionNames, readOptions, wholeFrom } from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';

/**
 * Options of the local machine for an agent; the others are those of `run()`.
 *
 * Without a `sandbox` commands may do whatever the host process may: `root` is where they start, and
 * what files are confined to.
 */
export interface LocalMachineOptions
  extends Pick<
    CommandOptions,
    | 'env'
    | 'inheritEnv'
    | 'graceMs'
    | 'shell'
    | 'priority'
    | 'startsAtOnce'
    | 'umask'
    | 'sandbox'
    | 'undo'
    | 'headBytes'
    | 'tailBytes'
  > {
  /** The directory of the agent, which must exist. Default: the host's working directory. */
  readonly root?: string | undefined;
  /** The limit of commands that have none of their own, in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
}

const NAMES: OptionNames<LocalMachineOptions> = {
  root: true,
  env: true,
  inheritEnv: true,
  timeoutMs: true,
  graceMs: true,
  shell: true,
  priority: true,
  startsAtOnce: true,
  umask: true,
  sandbox: true,
  undo: true,
  headBytes: true,
  tailBytes: true,
};

/**
 * Checks the options of a machine; `run()` checks the others.
 *
 * @throws {InputError} An option is not known, or not valid.
 */
export function machineOptions(given: LocalMachineOptions): LocalMachineOptions {
  const options = readOptions('options', given, NAMES, {
    mistakes: { cwd: 'use root, the directory of the agent' },
  });
  const { root, timeoutMs } = options;
  if (!isMissing(root) && (typeof root !== 'string' || root === '')) {
    throw new InputError(`root: expected the path of a directory, got ${showValue(root)}`);
  }
  if (timeoutMs !== undefined) wholeFrom('timeoutMs', 1, timeoutMs);
  return options;
}
