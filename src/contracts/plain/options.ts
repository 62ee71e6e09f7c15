import { MOST_KEPT_BYTES } from '../../options/values.js';
import { toolSandbox } from '../../sandbox/read-policy.js';
import { withUndo } from '../../sandbox/undo/with-undo.js';
import {
  atLeast,
  checkSwitch,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../../support/checks.js';
import { hostDirectory } from '../../support/paths.js';
import { nonInteractiveDefaults } from '../non-interactive.js';
import {
  resolveShellOptions,
  SHELL_OPTION_NAMES,
  type ShellOptions,
  type ShellSettings,
} from '../options.js';

/** Options of a tool of the `plain` contract. */
export interface PlainOptions extends Omit<ShellOptions, 'cwd' | 'ci'> {
  /** Where commands run. Default: the host's working directory at the time of the call. */
  readonly cwd?: string | URL | undefined;
  /**
   * Lay settings for programs that nobody watches over the environment: no pagers, editors, prompts,
   * colours. Default: false, commands see the host's environment as it is.
   */
  readonly nonInteractive?: boolean | undefined;
  /** The time that a command may take, in seconds. Default: 30. */
  readonly timeout?: number | undefined;
  /** Bytes of stdout in an answer, as UTF-8; what is longer is cut. Default: 1,048,576 (1 MiB). */
  readonly maxStdoutBytes?: number | undefined;
  /** Bytes of stderr, likewise. Default: 1,048,576 (1 MiB). */
  readonly maxStderrBytes?: number | undefined;
}

const { ci: _, ...SHARED_NAMES } = SHELL_OPTION_NAMES;
const NAMES: OptionNames<PlainOptions> = {
  ...SHARED_NAMES,
  nonInteractive: true,
  timeout: true,
  maxStdoutBytes: true,
  maxStderrBytes: true,
};
/** It is another contract's option, and a part of one of this. */
const MISTAKES = { ci: 'use nonInteractive' };

/** Those options with everything decided. */
export interface PlainSettings extends Omit<ShellSettings, 'cwd'> {
  /** The directory for the command of a call that is made now; undefined: it is gone. */
  readonly cwd: string | (() => string | undefined);
  readonly timeoutSeconds: number;
  readonly maxStdoutBytes: number;
  readonly maxStderrBytes: number;
}

const DEFAULT_TIMEOUT_SECONDS = 30;
const DEFAULT_MAX_BYTES = 1024 ** 2;
// One object, because environments are kept by the identity of what they are made of.
const NO_DEFAULTS: Readonly<Record<string, string>> = {};

/**
 * Fills in the contract's defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolvePlainOptions(given: PlainOptions): PlainSettings {
  const options = readOptions('options', given, NAMES, { mistakes: MISTAKES });
  const { cwd = '/', ...others } = options;
  const shell = resolveShellOptions({ ...others, cwd }, { inheritEnv: 'all', graceMs: 5000 });
  checkSwitch('nonInteractive', options.nonInteractive);
  const { timeout = DEFAULT_TIMEOUT_SECONDS, maxStdoutBytes, maxStderrBytes } = options;
  return {
    ...shell,
    cwd: options.cwd === undefined ? hostDirectory : shell.cwd,
    // Without a directory of its own, that of the host at each call is the workspace.
    sandbox:
      options.cwd === undefined
        ? toolSandbox(withUndo(options.sandbox, options.undo), undefined)
        : shell.sandbox,
    defaults: options.nonInteractive ? nonInteractiveDefaults(true) : NO_DEFAULTS,
    timeoutSeconds: atLeast('timeout', 0.001, timeout),
    maxStdoutBytes: resolveLimit('maxStdoutBytes', maxStdoutBytes),
    maxStderrBytes: resolveLimit('maxStderrBytes', maxStderrBytes),
  };
}

function resolveLimit(name: string, bytes = DEFAULT_MAX_BYTES): number {
  return wholeFrom(name, 1, bytes, MOST_KEPT_BYTES);
}
