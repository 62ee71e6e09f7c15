import type { Outcome } from '../../../engine/outcome.js';
import type { Receipt } from '../../../receipt/receipt.js';
import { signalName, signalNumber } from '../../../support/signals.js';
import type { ClientResult } from '../../../terminal/client-terminal.js';
import type { Timeout } from '../input/prepare.js';
import { captureText } from './text-capture.js';

/** Says what the client has left open, in one line each. */
export function troublesOf({ stale, mayStillRun }: ClientResult): readonly string[] {
  return [
    ...(stale ? ['The client did not show the end of the output.'] : []),
    ...(mayStillRun ? ['The client did not end the command: it may still run.'] : []),
  ];
}

/**
 * Makes the receipt of a command in a client's terminal, as far as the client reports it.
 *
 * @param isCut Whether a part of the client's output is not in the answer.
 * @param signal The caller's signal.
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
      // An unknown name of a signal says nothing.
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
