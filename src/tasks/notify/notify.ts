import {
  atLeast,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../../support/checks.js';
import { InputError, showValue } from '../../support/errors.js';
import type { LinePattern } from '../lookout/lines.js';

/** Events of one task that are to be told, each once. Times in milliseconds. */
export interface Notify {
  /** The first line of its output, complete or not, that contains this text or matches this expression. */
  readonly line?: LinePattern | undefined;
  /** One of its own processes listens on this TCP port; `true`: on any. */
  readonly port?: number | true | undefined;
  /** The task has printed nothing for this time; told the first time. */
  readonly silentMs?: number | undefined;
  /** The command has ended, unless a tool's answer has told that already. */
  readonly ended?: boolean | undefined;
}

/** Events of a detached command that are to be told, and by which manager. */
export interface DetachedNotify extends Notify {
  /** The `name` of the `TaskManager`, of this process or of another one, whose `onEvent` is called. */
  readonly to: string;
}

/** One of the conditions of {@link Notify}. */
export type WatchName = 'line' | 'port' | 'silent' | 'ended';

const NAMES: OptionNames<Notify> = { line: true, port: true, silentMs: true, ended: true };

/** The longest name of a runtime, in characters. */
const LONGEST_NAME = 200;

/** @throws {InputError} The message names the invalid field. */
export function checkNotify(given: Notify): Notify {
  const notify = readOptions('notify', given, NAMES, {
    within: 'notify.',
    mistakes: { to: 'whom a task of a manager is told to is decided by the manager' },
  });
  const { line, port, silentMs, ended } = notify;
  if (!isMissing(line) && !(line instanceof RegExp) && (typeof line !== 'string' || line === '')) {
    throw new InputError(
      `notify.line: expected a text that is not empty or a RegExp, got ${showValue(line)}`,
    );
  }
  if (!isMissing(port) && port !== true) wholeFrom('notify.port', 1, port, 65_535);
  if (!isMissing(silentMs)) atLeast('notify.silentMs', 1, silentMs);
  checkSwitch('notify.ended', ended);
  if (watchesOf(notify).length > 0) return notify;
  throw new InputError('notify: expected at least one of line, port, silentMs and ended');
}

/** @throws {InputError} The message names the invalid field. */
export function checkDetachedNotify(given: DetachedNotify): DetachedNotify {
  const { to, ...notify } = readOptions('notify', given, { ...NAMES, to: true } as const, {
    within: 'notify.',
  });
  if (isMissing(to)) {
    throw new InputError('notify.to: expected the name of a TaskManager, got nothing');
  }
  return { ...checkNotify(notify), to: checkName('notify.to', to) };
}

/** @throws {InputError} `name` is no name of a runtime. */
export function checkName(option: string, name: string): string {
  if (typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME) return name;
  const wanted = `a text of 1 to ${LONGEST_NAME} characters`;
  throw new InputError(`${option}: expected ${wanted}, got ${showValue(name)}`);
}

/** Returns the names of the conditions that are given. */
export function watchesOf({ line, port, silentMs, ended }: Notify): readonly WatchName[] {
  const names: WatchName[] = [];
  if (!isMissing(line)) names.push('line');
  if (!isMissing(port)) names.push('port');
  if (!isMissing(silentMs)) names.push('silent');
  if (ended) names.push('ended');
  return names;
}

/** @throws {InputError} There is no listener that could be told. */
export function checkHeard(isHeard: boolean): void {
  if (isHeard) return;
  throw new InputError('notify: expected a manager with onEvent or a subscriber, got one without');
}
