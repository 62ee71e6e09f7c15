import {
  atLeast,
  checkFunction,
  checkObject,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import type { TaskListener } from './events.js';
import type { LookoutConditions } from './lookout/lookout.js';
import { checkName, checkNotify, type Notify } from './notify/notify.js';
import type { TaskEnd, TaskStatus } from './status.js';

/** Options of a task manager. Times in milliseconds. */
export interface TaskManagerOptions {
  /** How many tasks may run at once. Default: 15. */
  readonly maxRunning?: number | undefined;
  /** How long a task is kept after its end. Default: 300,000 (5 minutes). */
  readonly keepMs?: number | undefined;
  /** How many ended tasks are kept; of more, the oldest are forgotten. Default: no limit. */
  readonly maxEnded?: number | undefined;
  /**
   * Called with the end of each task that no tool waits for, so that the runtime can tell the model. The
   * tools do not return that end again. Default: none.
   */
  readonly onEnd?: ((status: TaskStatus, end: TaskEnd) => void) | undefined;
  /** Called with all events of each task, at most every 200 ms: output, news, ends. Default: none. */
  readonly onEvent?: TaskListener | undefined;
  /** The news for `onEvent`, besides the ends. Default: ports. */
  readonly watch?: LookoutConditions | undefined;
  /**
   * The form of ids: 'counted', `bg_1`, `bg_2`, …; or 'random', `task_1f0c9a3b`, which cannot be guessed.
   * Default: 'counted'.
   */
  readonly ids?: 'counted' | 'random' | undefined;
  /**
   * The name of this runtime, the same after each restart: detached commands whose `notify.to` it is are
   * watched for `onEvent`, also those that an earlier process has started. Default: none.
   */
  readonly name?: string | undefined;
  /**
   * What is told of each task that is started without a `notify` of its own. Of tools' detached commands, by
   * the next host too, if there is a `name`. Default: nothing.
   */
  readonly notify?: Notify | undefined;
}

const NAMES: OptionNames<TaskManagerOptions> = {
  maxRunning: true,
  keepMs: true,
  maxEnded: true,
  onEnd: true,
  onEvent: true,
  watch: true,
  ids: true,
  name: true,
  notify: true,
};
const WATCH_NAMES: OptionNames<LookoutConditions> = { lines: true, ports: true, silentMs: true };

/** The options, with the defaults filled in. */
interface TaskManagerSettings {
  readonly maxRunning: number;
  readonly keepMs: number;
  readonly maxEnded: number;
  readonly onEnd: TaskManagerOptions['onEnd'];
  readonly onEvent: TaskManagerOptions['onEvent'];
  readonly watch: LookoutConditions;
  readonly ids: 'counted' | 'random';
  readonly name: string | undefined;
  readonly notify: Notify | undefined;
}

/**
 * Fills in the defaults.
 *
 * @param within Text before the name of an option in an error message.
 * @throws {InputError} An option is not valid.
 */
export function resolveManagerOptions(
  given: TaskManagerOptions,
  within: string,
): TaskManagerSettings {
  const options = readOptions('options', given, NAMES, { within });
  const { onEnd, onEvent, watch = { ports: true }, ids = 'counted', name, notify } = options;
  checkFunction('onEnd', onEnd);
  checkFunction('onEvent', onEvent);
  return {
    maxRunning: wholeFrom('maxRunning', 1, options.maxRunning ?? 15),
    keepMs: wholeFrom('keepMs', 1, options.keepMs ?? 300_000),
    maxEnded: wholeFrom('maxEnded', 1, options.maxEnded ?? Number.MAX_SAFE_INTEGER),
    onEnd,
    onEvent,
    watch: checkWatch(watch),
    ids: checkIds(ids),
    name: isMissing(name) ? undefined : checkName('name', name),
    notify: isMissing(notify) ? undefined : checkNotify(notify),
  };
}

function checkWatch(given: LookoutConditions): LookoutConditions {
  const watch = readOptions('watch', given, WATCH_NAMES, { within: 'watch.' });
  const { lines, ports, silentMs } = watch;
  checkSwitch('watch.ports', ports);
  if (!isMissing(silentMs)) atLeast('watch.silentMs', 1, silentMs);
  if (isMissing(lines)) return watch;
  if (!Array.isArray(lines)) checkObject('watch.lines', lines);
  for (const line of lines) {
    if (line instanceof RegExp || (typeof line === 'string' && line !== '')) continue;
    const wanted = 'a text that is not empty or a RegExp';
    throw new InputError(`watch.lines: expected each to be ${wanted}, got ${showValue(line)}`);
  }
  return watch;
}

function checkIds(ids: 'counted' | 'random'): 'counted' | 'random' {
  if (ids === 'counted' || ids === 'random') return ids;
  throw new InputError(`ids: expected 'counted' or 'random', got ${showValue(ids)}`);
}
