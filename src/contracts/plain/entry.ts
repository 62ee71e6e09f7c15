import type { InteractionEntry } from '../../interaction-log/log.js';
import { messageOf } from '../../support/errors.js';
import type { ToolResult } from '../contract.js';
import { ToolAbortError } from '../errors.js';
import { CANCELLED } from '../notices.js';
import type { PlainDetails } from './result.js';

/** A command on its way, to be noted when it has ended. */
export class PendingEntry {
  readonly #command: string;
  readonly #time = new Date();
  readonly #startedAt = performance.now();

  constructor(command: string) {
    this.#command = command;
  }

  /** The entry for a command that got an answer. */
  answered({ structured, details }: ToolResult<PlainDetails>): InteractionEntry {
    const { exitCode, error } = structured ?? {};
    return this.#entry(details, {
      ...(typeof exitCode === 'number' && { exitCode }),
      ...(typeof error === 'string' && { error }),
    });
  }

  /** The entry for a command that got none, because of what was thrown. */
  thrown(reason: unknown): InteractionEntry {
    if (reason instanceof ToolAbortError) {
      const details: PlainDetails | undefined = reason.details;
      return this.#entry(details, { error: CANCELLED });
    }
    return this.#entry(undefined, { error: messageOf(reason) });
  }

  #entry(
    details: PlainDetails | undefined,
    ending: Pick<InteractionEntry, 'exitCode' | 'error'>,
  ): InteractionEntry {
    return {
      time: this.#time.toISOString(),
      command: this.#command,
      ...ending,
      stdoutBytes: details?.stdout?.bytes ?? 0,
      stderrBytes: details?.stderr?.bytes ?? 0,
      durationMs: Math.round(performance.now() - this.#startedAt),
    };
  }
}
