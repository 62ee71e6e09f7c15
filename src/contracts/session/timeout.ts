import type { SessionSettings } from './options.js';
import type { CallTimeout, SessionDetails } from './result.js';

/** The timeout of a call that asks for this one, if it does. */
export function timeoutFor(
  asked: number | undefined,
  { maxTimeoutMs }: Pick<SessionSettings, 'maxTimeoutMs'>,
): CallTimeout {
  if (asked === undefined || asked <= maxTimeoutMs) return { milliseconds: asked };
  return { milliseconds: maxTimeoutMs, requested: asked };
}

/** What is said of a timeout that is not the one that was asked for. */
export function timeoutChange(
  timeout: CallTimeout,
  { maxTimeoutMs }: Pick<SessionSettings, 'maxTimeoutMs'>,
): string | undefined {
  if (timeout.requested === undefined) return undefined;
  return (
    `Timeout clamped to ${timeout.milliseconds} ms ` +
    `(requested ${timeout.requested} ms; at most ${maxTimeoutMs} ms).`
  );
}

/** What the details have of it. */
export function detailsOfTimeout({
  milliseconds,
  requested,
}: CallTimeout): Pick<SessionDetails, 'timeoutMs' | 'requestedTimeoutMs'> {
  return {
    ...(milliseconds !== undefined && { timeoutMs: milliseconds }),
    ...(requested !== undefined && { requestedTimeoutMs: requested }),
  };
}
