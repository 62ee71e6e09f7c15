import { createArtifactStore } from '../../artifacts/directory-store.js';
import type { ArtifactStore } from '../../artifacts/store.js';
import { needsNativeEngine } from '../../engine/choice.js';
import {
  atLeast,
  checkSwitch,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import { TaskManager, taskManagerOf } from '../../tasks/manager.js';
import type { TaskManagerOptions } from '../../tasks/manager-options.js';
import type { TaskLifetime } from '../../tasks/status.js';
import {
  resolveShellOptions,
  SHELL_OPTION_NAMES,
  type ShellOptions,
  type ShellSettings,
} from '../options.js';

/** Options of the `session` contract. `cwd` is where the session starts. */
export interface SessionOptions extends ShellOptions {
  /**
   * The timeout of a call that asks for none, in milliseconds; brought within `maxTimeoutMs`.
   * Default: 120,000.
   */
  readonly timeoutMs?: number | undefined;
  /** The longest timeout that a call can get, in milliseconds. Default: 600,000. */
  readonly maxTimeoutMs?: number | undefined;
  /** Characters shown of each stream, from its beginning. Default: 30,000. */
  readonly maxCharacters?: number | undefined;
  /** How many tasks may run in the background at once. Default: 10. */
  readonly maxRunningTasks?: number | undefined;
  /**
   * How many tasks that have ended and were not asked for are kept; of more, the oldest are
   * forgotten. Default: 100.
   */
  readonly maxEndedTasks?: number | undefined;
  /**
   * Keeps the commands in the background, and tells of them; or what the session's own manager is to
   * do. Default: a manager of its own, with the two limits above.
   */
  readonly tasks?: TaskManager | TaskManagerOptions | undefined;
  /**
   * Until when tasks may run at the longest: until the tool is disposed of, the host ends, or their
   * own timeout; those that are detached are found again by `attach()`. Default: 'tool'.
   */
  readonly taskLifetime?: TaskLifetime | undefined;
  /**
   * Lets a model say what it is to be told of a command in the background. For a host that passes the events
   * with `watch` and `unmet` on to the model: by `onEvent` of `tasks`, or as an MCP client. Default: false.
   */
  readonly notify?: boolean | undefined;
  /**
   * A command that takes longer goes on as a task, in milliseconds; at the latest a second before its
   * timeout. Default: none does.
   */
  readonly autoBackgroundMs?: number | undefined;
  /**
   * One bash for all calls, which run one after the other: variables, functions, options, traps and
   * jobs last, too. Default: false, a fresh bash for each.
   */
  readonly persistent?: boolean | undefined;
}

const NAMES: OptionNames<SessionOptions> = {
  ...SHELL_OPTION_NAMES,
  timeoutMs: true,
  maxTimeoutMs: true,
  maxCharacters: true,
  maxRunningTasks: true,
  maxEndedTasks: true,
  tasks: true,
  taskLifetime: true,
  notify: true,
  autoBackgroundMs: true,
  persistent: true,
};

/** The options with everything decided. */
export interface SessionSettings extends ShellSettings {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly maxCharacters: number;
  readonly maxRunningTasks: number;
  readonly tasks: TaskManager;
  /** Whether the tool disposes of it. */
  readonly ownsTasks: boolean;
  readonly taskLifetime: TaskLifetime;
  readonly notify: boolean;
  readonly autoBackgroundMs: number | undefined;
  /** Whole outputs of tasks. */
  readonly outputs: ArtifactStore;
  readonly persistent: boolean;
}

/** What two streams can be kept of, four bytes a character, without a string being too long. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/**
 * Fills in the defaults.
 *
 * @throws {InputError} An option is not valid.
 */
export function resolveSessionOptions(given: SessionOptions): SessionSettings {
  const options = readOptions('options', given, NAMES);
  const maxTimeoutMs = wholeFrom('maxTimeoutMs', 1, options.maxTimeoutMs ?? 600_000);
  const timeoutMs = wholeFrom('timeoutMs', 1, options.timeoutMs ?? 120_000);
  const maxCharacters = wholeFrom('maxCharacters', 1, options.maxCharacters ?? 30_000);
  if (maxCharacters > MOST_CHARACTERS) {
    const given = showValue(maxCharacters);
    throw new InputError(`maxCharacters: expected at most ${MOST_CHARACTERS}, got ${given}`);
  }
  checkSwitch('persistent', options.persistent);
  if (options.persistent) needsNativeEngine('persistent', true, 'false');
  const shell = resolveShellOptions(options, { inheritEnv: 'scrubbed', graceMs: 5000 });
  if (shell.limits !== undefined && options.taskLifetime === 'detached') {
    throw new InputError(
      "taskLifetime: expected 'tool' or 'host' beside limits, which are kept by their host, got 'detached'",
    );
  }
  if (shell.encoding !== undefined && options.taskLifetime === 'detached') {
    throw new InputError(
      `encoding: expected 'utf-8' beside taskLifetime: 'detached', whose output is read from files as UTF-8, got ${showValue(options.encoding)}`,
    );
  }
  if (options.persistent && shell.onDenied !== undefined) {
    throw new InputError(
      'onDenied: expected nothing beside persistent, whose one shell can not be run again, got a function',
    );
  }
  return {
    ...shell,
    timeoutMs: Math.min(timeoutMs, maxTimeoutMs),
    maxTimeoutMs,
    maxCharacters,
    ...resolveTasks(options),
    outputs: createArtifactStore(),
    persistent: options.persistent ?? false,
  };
}

type TaskSettings = Pick<
  SessionSettings,
  'maxRunningTasks' | 'tasks' | 'ownsTasks' | 'taskLifetime' | 'notify' | 'autoBackgroundMs'
>;

function resolveTasks({
  maxRunningTasks = 10,
  maxEndedTasks = 100,
  tasks,
  taskLifetime = 'tool',
  notify = false,
  autoBackgroundMs,
}: SessionOptions): TaskSettings {
  wholeFrom('maxRunningTasks', 1, maxRunningTasks);
  wholeFrom('maxEndedTasks', 1, maxEndedTasks);
  // As many are kept as may be, and not for a time.
  const keepMs = Number.MAX_SAFE_INTEGER;
  const own = {
    ids: 'random',
    maxRunning: maxRunningTasks,
    maxEnded: maxEndedTasks,
    keepMs,
  } as const;
  const manager = taskManagerOf(tasks, own);
  checkSwitch('notify', notify);
  if (autoBackgroundMs !== undefined) atLeast('autoBackgroundMs', 0, autoBackgroundMs);
  return {
    maxRunningTasks: manager.maxRunning,
    tasks: manager,
    ownsTasks: !(tasks instanceof TaskManager),
    taskLifetime: checkLifetime(taskLifetime),
    notify,
    autoBackgroundMs,
  };
}

function checkLifetime(lifetime: TaskLifetime): TaskLifetime {
  if (lifetime === 'detached') needsNativeEngine('taskLifetime', lifetime, "'tool' or 'host'");
  if (['tool', 'host', 'detached'].includes(lifetime)) return lifetime;
  const wanted = "'tool', 'host' or 'detached'";
  throw new InputError(`taskLifetime: expected ${wanted}, got ${showValue(lifetime)}`);
}
