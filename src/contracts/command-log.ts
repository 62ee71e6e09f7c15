import { createInteractionLog } from '../interaction-log/file-log.js';
import type { InteractionLog } from '../interaction-log/log.js';
import { describeThrown, InputError, showValue } from '../support/errors.js';
import { type Logger, warnTo } from '../support/logger.js';
import { UnderWay } from '../support/timing.js';
import { PendingEntry } from './log-entry.js';

/** Writes commands to a log. When the log fails, a warning says so once, and commands go on as usual. */
export class CommandLog {
  readonly #log: InteractionLog;
  readonly #warn: (message: string) => void;
  readonly #underWay = new UnderWay();
  #warned = false;

  constructor(log: InteractionLog, warn: (message: string) => void) {
    this.#log = log;
    this.#warn = warn;
  }

  /**
   * Begins the entry of a command.
   *
   * @param signal The signal of the call.
   */
  begin(command: string, signal: AbortSignal | undefined): PendingEntry {
    return new PendingEntry(command, signal, (entry) => {
      if (entry instanceof Promise) {
        this.#underWay.add(this.#guard(async () => this.#log.append(await entry)));
      } else this.#guard(() => this.#log.append(entry));
    });
  }

  /** Settles when the entries of all commands that have ended are written, or have failed. */
  async flush(): Promise<void> {
    await this.#underWay.settled();
    await this.#guard(() => this.#log.flush?.());
  }

  async #guard(action: () => void | Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (this.#warned) return;
      this.#warned = true;
      this.#warn(`log: an entry could not be written: ${describeThrown(error)}`);
    }
  }
}

/**
 * Opens the log of a tool.
 *
 * @param given The path of a file, or a log; undefined: there is no log.
 * @throws {InputError} The value is neither a path nor a log.
 */
export function resolveLog(
  given: string | InteractionLog | undefined,
  logger: Logger | undefined,
): CommandLog | undefined {
  if (given === undefined) return undefined;
  const warn = warnTo(logger);
  if (typeof given === 'string' && given !== '') {
    return new CommandLog(createInteractionLog({ path: given, logger }), warn);
  }
  if (typeof given === 'object' && given !== null && typeof given.append === 'function') {
    return new CommandLog(given, warn);
  }
  throw new InputError(`log: expected a path or an interaction log, got ${showValue(given)}`);
}
