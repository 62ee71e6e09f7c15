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
import { InputError, showValue } from '../../../support/errors.js';
import { momentOf, type ShellSettings, shellEnvironment, showingPaths } from '../../options.js';

/** Which rc file is captured, and how. */
export interface ShellSnapshotOptions {
  /** Absolute, relative to the tool's `cwd`, or beginning with `~/`. Default: `~/.bashrc`. */
  readonly rcFile?: string | undefined;
  /** Time that it may take, in milliseconds. Default: 2,000. */
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
  const path = rcFile.startsWith('~/') ? resolve(home, rcFile.slice(2)) : rcFile;
  const file = resolve(shell.cwd, path);
  return new ShellSnapshot(
    {
      rcFile: file,
      timeoutMs: atLeast('shellSnapshot.timeoutMs', 1, timeoutMs),
      environment: () => rcEnvironment(shell),
      shell: shell.shell,
      // It may be, or read, what commands have written: it gets no further than they do.
      sandboxWith: (directory) => showingPaths(shell, [directory, file]).sandbox,
      mayKeep: (name, declaration) => mayKeep(shell, name, declaration),
    },
    warn,
  );
}

/** What is kept from commands, or set for them, is so too when an rc file sets it. */
function mayKeep(
  { inheritEnv, scrub = SECRET_NAME_PATTERNS, defaults }: ShellSettings,
  name: string,
  declaration: string,
): boolean {
  if (isShellVariable(name) || Object.hasOwn(defaults, name)) return false;
  if (inheritEnv === 'all') return true;
  return !compileNamePatterns(scrub).test(name) && !hasPassword(declaration);
}

/** That of commands, but nothing else is read, and no history written. */
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
