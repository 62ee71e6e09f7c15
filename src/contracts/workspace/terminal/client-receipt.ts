import type { Outcome } from '../../../engine/outcome.js';
import type { Receipt } from '../../../receipt/receipt.js';
import { signalName, signalNumber } from '../../../support/signals.js';
import type { ClientResult } from '../../../terminal/client-terminal.js';
import type { Timeout } from '../input/prepare.js';
import { captureText } from './text-capture.js';

/** What the client has left open; a line each. */
export function troublesOf({ stale, mayStillRun }: ClientResult): readonly string[] {
  return [
    ...(stale ? ['The client did not show the end of the output.'] : []),
    ...(mayStillRun ? ['The client did not end the command: it may still run.'] : []),
  ];
}

/**
 * The receipt of a command in a client's terminal: as much as the client tells.
 *
 * @param isCut Not all that the client has shown is in the answer.
 * @param signal The caller's.
 */
export function clientReceipt(
  result: ClientResult,
  { seconds }: Timeout,
  isCut: boolean,
  signal: AbortSignal | undefined,
): Receipt {
  const { output, truncated, durationMs } = result;
  const { total, lossy } = captureText(output, { headBytes: 0, tailBytes: 0 });
  return {
    pid: 0,
    outcome: toOutcome(result, seconds * 1000, signal?.aborted ? 'signal' : 'owner'),
    background: [],
    streams: { output: { ...total, lossy, cut: truncated || isCut } },
    troubles: troublesOf(result),
    durationMs,
  };
}

function toOutcome(
  { outcome, terminalId }: ClientResult,
  timeoutMs: number,
  by: 'signal' | 'owner',
): Outcome {
  const ending = { kind: terminalId === undefined ? 'neverStarted' : 'unknown' } as const;
  switch (outcome.kind) {
    case 'exited':
      return outcome;
    case 'signaled': {
      const number = signalNumber(outcome.signal);
      // What is no signal's name says nothing.
      if (number === undefined) return { kind: 'unknown' };
      return { kind: 'signaled', signal: signalName(number) };
    }
    case 'timedOut':
      return { kind: 'timedOut', timeoutMs, forced: false, ending };
    case 'cancelled':
      return { kind: 'cancelled', by, forced: false, ending };
    case 'unknown':
      return { kind: 'unknown' };
  }
}
