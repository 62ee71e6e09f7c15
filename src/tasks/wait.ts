import { abortReason, onAbort, throwIfAborted } from '../support/abort.js';
import {
  atLeast,
  checkSwitch,
  isMissing,
  type OptionNames,
  readOptions,
  wholeFrom,
} from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { startTimer } from '../support/timing.js';
import type { LinePattern } from './lookout/lines.js';
import { Lookout, type TaskNews } from './lookout/lookout.js';
import type { TaskSubject } from './subject.js';

/** The events of a wait: it ends with the first of those that are named. Times in milliseconds. */
export interface Until {
  /**
   * The command itself has ended, even if processes of it still run. It ends every wait except one for
   * `gone`.
   */
  readonly ended?: boolean | undefined;
  /** No process of the command is left. */
  readonly gone?: boolean | undefined;
  /** A line of its output, complete or not, contains this text or matches this expression. */
  readonly line?: LinePattern | undefined;
  /** One of its own processes listens on this TCP port; `true`: on any. */
  readonly port?: number | true | undefined;
  /** The command has printed nothing for this time: perhaps it is at a prompt. */
  readonly silentMs?: number | undefined;
  /** The longest wait. Default: no limit. */
  readonly atMostMs?: number | undefined;
}

/** The event that ended a wait. */
export type Awaited = TaskNews | { readonly kind: 'time' };

/** The longest time between two looks, in milliseconds. */
const LONGEST_MS = 3_600_000;

const NAMES: OptionNames<Until> = {
  ended: true,
  gone: true,
  line: true,
  port: true,
  silentMs: true,
  atMostMs: true,
};

/** @throws {InputError} The message names the invalid field. */
export function checkUntil(given: Until): Until {
  const until = readOptions('until', given, NAMES, { within: 'until.' });
  const { line, port, silentMs, atMostMs } = until;
  checkSwitch('until.ended', until.ended);
  checkSwitch('until.gone', until.gone);
  if (!isMissing(line) && !(line instanceof RegExp) && (typeof line !== 'string' || line === '')) {
    throw new InputError(
      `until.line: expected a text that is not empty or a RegExp, got ${showValue(line)}`,
    );
  }
  if (!isMissing(port) && port !== true) wholeFrom('until.port', 1, port, 65_535);
  if (!isMissing(silentMs)) atLeast('until.silentMs', 0, silentMs);
  if (!isMissing(atMostMs)) atLeast('until.atMostMs', 0, atMostMs);
  return until;
}

/**
 * Waits until something happens. Keeps the host alive, which a detached command would not.
 *
 * @param until Checked by {@link checkUntil}.
 * @param since Position of the output from which on a line counts.
 * @throws The reason of the aborted signal.
 */
export async function waitUntil(
  subject: TaskSubject,
  until: Until,
  since: number,
  signal: AbortSignal | undefined,
): Promise<Awaited> {
  if (signal) throwIfAborted(signal);
  const { line, port, silentMs, atMostMs } = until;
  const lines = isMissing(line) ? [] : [line];
  const conditions = { lines, ports: !isMissing(port), silentMs: silentMs ?? undefined };
  const lookout = new Lookout(subject, conditions, since);
  const bell = new Bell();
  const stopWatching = subject.watch(bell.ring);
  const offAbort = signal && onAbort(signal, bell.ring);
  const deadline = performance.now() + (atMostMs ?? Number.POSITIVE_INFINITY);
  try {
    for (;;) {
      const news = await lookout.look();
      if (signal?.aborted) throw abortReason(signal);
      const met = news.find((one) => answers(one, until));
      if (met !== undefined) return met;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return { kind: 'time' };
      await bell.rung(Math.min(leftMs, lookout.nextLookMs() ?? LONGEST_MS));
    }
  } finally {
    stopWatching();
    offAbort?.();
  }
}

function answers(news: TaskNews, until: Until): boolean {
  switch (news.kind) {
    case 'ended':
      if (news.running === 0) return !until.gone;
      // A daemon may listen after the command that started it has ended.
      return !until.gone && isMissing(until.port);
    case 'listening':
      return until.port === true || until.port === news.port;
    case 'line':
    case 'silent':
    case 'gone':
    case 'lost':
      return true;
  }
}

/** Wakes a waiting caller; rung while none waits, it wakes the next one at once. */
class Bell {
  #isRung = false;
  #wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.#isRung = true;
    this.#wake?.();
  };

  /** @param ms The longest wait. */
  async rung(ms: number): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        const stop = startTimer(ms, resolve, 'keepsAlive');
        this.#wake = () => {
          stop();
          resolve();
        };
      });
    }
    this.#isRung = false;
    this.#wake = undefined;
  }
}
