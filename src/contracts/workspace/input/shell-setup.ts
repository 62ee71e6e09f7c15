import { resolve } from 'node:path';
import {
  compileNamePatterns,
  hasPassword,
  SECRET_NAME_PATTERNS,
} from '../../../command/secrets.js';
import { isShellVariable } from '../../../shell/variables.js';
import { ShellSnapshot } from '../../../snapshot/shell-snapshot.js';
import {
  atLeast,
  checkWellFormed,
  type OptionNames,
  readOptions,
} from '../../../support/checks.js';
import { expandHome, withoutHome } from '../../../support/directories/home.js';
import { InputError, showValue } from '../../../support/errors.js';
import { momentOf, type ShellSettings, shellEnvironment, showingPaths } from '../../options.js';

/** Options for the capture of an rc file. */
export interface ShellSnapshotOptions {
  /** Path of the file: absolute, relative to the tool's `cwd`, or with `~/`. Default: `~/.bashrc`. */
  readonly rcFile?: string | undefined;
  /** Timeout in milliseconds. Default: 2,000. */
  readonly timeoutMs?: number | undefined;
}

const SNAPSHOT_NAMES: OptionNames<ShellSnapshotOptions> = { rcFile: true, timeoutMs: true };

/** @throws {InputError} The option is not valid. */
export function resolveSnapshot(
  option: boolean | ShellSnapshotOptions | undefined,
  shell: ShellSettings,
  warn: (message: string) => void,
): ShellSnapshot | undefined {
  if (option === undefined || option === false) return undefined;
  if (option !== true && (typeof option !== 'object' || option === null)) {
    const got = showValue(option);
    throw new InputError(`shellSnapshot: expected a boolean or an object, got ${got}`);
  }
  const given = option === true ? {} : option;
  const { rcFile = '~/.bashrc', timeoutMs = 2000 } = readOptions(
    'shellSnapshot',
    given,
    SNAPSHOT_NAMES,
    { within: 'shellSnapshot.' },
  );
  if (typeof rcFile !== 'string' || rcFile === '') {
    throw new InputError(`shellSnapshot.rcFile: expected a path, got ${showValue(rcFile)}`);
  }
  const home = shell.env?.HOME ?? shell.home;
  if (home === undefined && rcFile.startsWith('~/')) {
    warn(`shellSnapshot: not used, ${rcFile}: ${withoutHome()}`);
    return undefined;
  }
  const file = resolve(shell.cwd, expandHome('shellSnapshot.rcFile', rcFile, home));
  return new ShellSnapshot(
    {
      rcFile: file,
      timeoutMs: atLeast('shellSnapshot.timeoutMs', 1, timeoutMs),
      environment: () => rcEnvironment(shell),
      shell: shell.shell,
      // In the sandbox of commands, since commands may have written the file, or one that it reads.
      sandboxWith: (directory) => showingPaths(shell, [directory, file]).sandbox,
      mayKeep: (name, declaration) => mayKeep(shell, name, declaration),
    },
    warn,
  );
}

/** Returns whether a variable of the rc file is kept: not if the tool withholds or sets it for commands. */
function mayKeep(
  { inheritEnv, scrub = SECRET_NAME_PATTERNS, defaults }: ShellSettings,
  name: string,
  declaration: string,
): boolean {
  if (isShellVariable(name) || Object.hasOwn(defaults, name)) return false;
  if (inheritEnv === 'all') return true;
  return !compileNamePatterns(scrub).test(name) && !hasPassword(declaration);
}

/** The environment of commands, but without `BASH_ENV`, and without a file for the history. */
function rcEnvironment(shell: ShellSettings): string {
  const overrides = { ...shell.env, BASH_ENV: undefined, HISTFILE: '/dev/null' };
  return shellEnvironment('/', shell, momentOf(shell), overrides);
}

/** @throws {InputError} The option is not valid. */
export function checkPrefix(prefix: string | undefined): string | undefined {
  if (prefix === undefined || prefix === '') return undefined;
  if (typeof prefix !== 'string' || prefix.includes('\0')) {
    const got = showValue(prefix);
    throw new InputError(`commandPrefix: expected shell text without NUL, got ${got}`);
  }
  checkWellFormed('commandPrefix', prefix);
  return prefix;
}
