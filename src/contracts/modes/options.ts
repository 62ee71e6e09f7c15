import { createArtifactStore } from '../../artifacts/directory-store.js';
import type { ArtifactStore } from '../../artifacts/store.js';
import { MOST_KEPT_BYTES } from '../../options/values.js';
import { toolSandbox } from '../../sandbox/read-policy.js';
import { withUndo } from '../../sandbox/undo/with-undo.js';
import { atLeast, type OptionNames, readOptions, wholeFrom } from '../../support/checks.js';
import { disregard, InputError, showValue } from '../../support/errors.js';
import { absolutePath, isUrl } from '../../support/paths.js';
import { TaskManager, taskManagerOf } from '../../tasks/manager.js';
import type { TaskManagerOptions } from '../../tasks/manager-options.js';
import {
  resolveShellOptions,
  SHELL_OPTION_NAMES,
  type ShellOptions,
  type ShellSettings,
} from '../options.js';

/** How a command is run. */
export type Mode = 'default' | 'slow' | 'background';

/** How long a command of each mode may take, in seconds. */
export type ModeTimeouts = Readonly<Record<Mode, number>>;

/** Options of the `modes` contract. */
export interface ModesOptions extends Omit<ShellOptions, 'cwd'> {
  /**
   * Where commands run, relative to the process's own directory. A function is asked at every call,
   * and whenever the description is read: for a conversation whose directory changes.
   */
  readonly cwd: string | URL | (() => string | URL);
  /** Timeouts in seconds. Default: 30, 900 for `slow`, 86,400 for `background`. */
  readonly timeouts?: Partial<ModeTimeouts> | undefined;
  /** The longest output that is returned whole, in bytes. Default: 131,072. */
  readonly maxOutputBytes?: number | undefined;
  /** Bytes returned of each end of longer output. Default: 4,096. */
  readonly snipBytes?: number | undefined;
  /** The most that is kept of the output of a command in the background, in bytes. Default: 1 GiB. */
  readonly maxBackgroundBytes?: number | undefined;
  /** The longest command, in bytes. Default: 240,000, about 60,000 tokens. */
  readonly maxCommandBytes?: number | undefined;
  /**
   * Tells of the commands in the background, as long as the host is there: a `TaskManager`, or what
   * the tool's own is to do. They go on whatever it says. Default: nobody is told.
   */
  readonly tasks?: TaskManager | TaskManagerOptions | undefined;
}

const NAMES: OptionNames<ModesOptions> = {
  ...SHELL_OPTION_NAMES,
  timeouts: true,
  maxOutputBytes: true,
  snipBytes: true,
  maxBackgroundBytes: true,
  maxCommandBytes: true,
  tasks: true,
};
const TIMEOUT_NAMES: OptionNames<ModeTimeouts> = { default: true, slow: true, background: true };

/** The options with everything decided. */
export interface ModesSettings extends Omit<ShellSettings, 'cwd'> {
  /** The directory of now, absolute. */
  readonly directory: string | (() => string);
  readonly timeouts: ModeTimeouts;
  readonly maxOutputBytes: number;
  readonly snipBytes: number;
  readonly maxBackgroundBytes: number;
  readonly maxCommandBytes: number;
  /** Undefined: nobody is told of commands in the background. */
  readonly tasks: TaskManager | undefined;
  /** Whether the tool disposes of it. */
  readonly ownsTasks: boolean;
  /** Where outputs that are cut are kept whole, until the tool is disposed of. */
  readonly outputs: ArtifactStore;
}

const DEFAULT_TIMEOUTS: ModeTimeouts = { default: 30, slow: 15 * 60, background: 24 * 60 * 60 };
const DEFAULT_GRACE_MS = 15_000;
const DEFAULT_MAX_OUTPUT_BYTES = 128 * 1024;
const DEFAULT_SNIP_BYTES = 4 * 1024;
const DEFAULT_MAX_BACKGROUND_BYTES = 1024 ** 3;
// A token is about four bytes.
const DEFAULT_MAX_COMMAND_BYTES = 60_000 * 4;

/**
 * Fills in the defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveModesOptions(given: ModesOptions): ModesSettings {
  const options = readOptions('options', given, NAMES);
  const { cwd, ...rest } = options;
  const settings = resolveShellOptions(
    { ...rest, cwd: currentDirectory(cwd) },
    { inheritEnv: 'scrubbed', graceMs: DEFAULT_GRACE_MS },
  );
  // What was a relative path at the start is one directory from there on.
  const directory =
    typeof cwd === 'function' ? () => absolutePath('cwd', currentDirectory(cwd)) : settings.cwd;
  return {
    ...settings,
    directory,
    sandbox:
      typeof cwd === 'function'
        ? toolSandbox(withUndo(rest.sandbox, rest.undo), undefined)
        : settings.sandbox,
    timeouts: resolveTimeouts(options.timeouts),
    ...resolveSizes(options),
    tasks: options.tasks === undefined ? undefined : taskManagerOf(options.tasks),
    ownsTasks: !(options.tasks instanceof TaskManager),
    outputs: createArtifactStore(),
    maxBackgroundBytes: wholeFrom(
      'maxBackgroundBytes',
      1,
      options.maxBackgroundBytes ?? DEFAULT_MAX_BACKGROUND_BYTES,
    ),
    maxCommandBytes: wholeFrom(
      'maxCommandBytes',
      1,
      options.maxCommandBytes ?? DEFAULT_MAX_COMMAND_BYTES,
    ),
  };
}

function currentDirectory(cwd: ModesOptions['cwd']): string | URL {
  const path: unknown = typeof cwd === 'function' ? cwd() : cwd;
  if (isUrl(path)) return path;
  if (typeof path === 'string' && path !== '' && !path.includes('\0')) return path;
  disregard(path);
  const got = showValue(path);
  throw new InputError(`cwd: expected a path or a function that returns one, got ${got}`);
}

function resolveTimeouts(given: Partial<ModeTimeouts> = {}): ModeTimeouts {
  readOptions('timeouts', given, TIMEOUT_NAMES, { within: 'timeouts.' });
  const limit = (mode: Mode): number =>
    atLeast(`timeouts.${mode}`, 0.001, given[mode] ?? DEFAULT_TIMEOUTS[mode]);
  return { default: limit('default'), slow: limit('slow'), background: limit('background') };
}

function resolveSizes(options: ModesOptions): Pick<ModesSettings, 'maxOutputBytes' | 'snipBytes'> {
  const maxOutputBytes = wholeFrom(
    'maxOutputBytes',
    1,
    options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
    MOST_KEPT_BYTES,
  );
  const half = Math.floor(maxOutputBytes / 2);
  // A small limit leaves the usual snips out, and is meant for them too.
  const snipBytes = wholeFrom(
    'snipBytes',
    0,
    options.snipBytes ?? Math.min(DEFAULT_SNIP_BYTES, half),
  );
  if (snipBytes <= half) return { maxOutputBytes, snipBytes };
  throw new InputError(
    `snipBytes: expected at most half of maxOutputBytes (${half}), got ${snipBytes}`,
  );
}
