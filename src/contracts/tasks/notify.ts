import { isMissing } from '../../support/checks.js';
import { InputError } from '../../support/errors.js';
import type { TaskManager } from '../../tasks/manager.js';
import { checkNotify, type Notify } from '../../tasks/notify/notify.js';

/** Events of a command in the background of which a model is told, each once, all optional. Times in seconds. */
export interface NotifyInput {
  /** Text in a line of the output. */
  readonly line?: string | null;
  /** TCP port on which the task listens. */
  readonly port?: number | null;
  /** Seconds without output. */
  readonly silent?: number | null;
  /** The end of the command. */
  readonly ended?: boolean | null;
}

/** The field of a tool's input, for hosts that tell the model of events. */
export const NOTIFY_PROPERTY = {
  type: 'object',
  properties: {
    line: { type: 'string' },
    port: { type: 'integer', minimum: 1 },
    silent: { type: 'number', minimum: 1 },
    ended: { type: 'boolean' },
  },
  additionalProperties: false,
  description:
    'In the background: be told once of a line with this, this port, so many silent seconds, the end',
};

/**
 * Converts a model's input to what its host is told.
 *
 * @throws {InputError} A field is not valid, or the host listens to no events.
 */
export function notifyOf(
  input: NotifyInput | undefined,
  { hasListeners }: Pick<TaskManager, 'hasListeners'>,
): Notify | undefined {
  if (isMissing(input)) return undefined;
  const { line, port, silent, ended } = input;
  const notify = checkNotify({
    line: line ?? undefined,
    port: port ?? undefined,
    silentMs: isMissing(silent) ? undefined : silent * 1000,
    ended: ended ?? undefined,
  });
  if (hasListeners) return notify;
  throw new InputError('notify: the host of this tool listens to no events; wait for them instead');
}
