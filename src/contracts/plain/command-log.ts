import type { InteractionEntry, InteractionLog } from '../../interaction-log/log.js';
import { describeThrown } from '../../support/errors.js';

/** Notes commands in a log that may fail: it is reported once, and the commands do not notice. */
export class CommandLog {
  readonly #log: InteractionLog;
  readonly #warn: (message: string) => void;
  #warned = false;

  constructor(log: InteractionLog, warn: (message: string) => void) {
    this.#log = log;
    this.#warn = warn;
  }

  append(entry: InteractionEntry): void {
    this.#guard(() => this.#log.append(entry));
  }

  async flush(): Promise<void> {
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
