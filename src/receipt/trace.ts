import { tracingChannel } from 'node:diagnostics_channel';
import { inCallersContext } from '../engine/caller.js';
import type { RunResult } from '../engine/outcome.js';
import { makeReceipt, type Receipt, type ReceiptSource } from './receipt.js';

/** What the tracing channel `forkline:command` tells of one command, in the same object each time. */
export interface CommandTrace {
  /** What the shell is given. */
  readonly command: string;
  /** Where it starts; undefined: in the host's directory. */
  readonly cwd: string | undefined;
  /** Undefined: it may take as long as it wants. */
  readonly timeoutMs: number | undefined;
  /** It outlives the host: nothing is known of its end. */
  readonly detached: boolean;
  /** Once it has ended, unless it is detached, or one of several that one shell has run. */
  result?: RunResult;
  /** Once it has ended, unless it is detached. */
  receipt?: Receipt;
  /** Why there is no result: it could not be started, or its listener threw. */
  error?: unknown;
}

const channel = tracingChannel<unknown, CommandTrace>('forkline:command');

/** What a command comes to: a result, or nothing when it is detached. */
type End = ReceiptSource | undefined | Promise<ReceiptSource | undefined>;

/** Whether anybody watches commands: if not, this is all that is paid. */
export function isWatched(): boolean {
  return channel.hasSubscribers;
}

/**
 * Starts a command, and tells those who watch: `start` and `end` around the start, `asyncStart` and
 * `asyncEnd` when it has ended, `error` before these when it has no result. Nobody waits for them.
 *
 * @param start Is given whom to tell the end.
 */
export function traceCommand<T>(
  asked: Pick<CommandTrace, 'command' | 'cwd' | 'timeoutMs' | 'detached'>,
  start: (ended: (end: End) => void) => T,
): T {
  const trace: CommandTrace = { ...asked };
  return channel.start.runStores(trace, () => {
    const ended = inCallersContext((end: End) => void tellEnd(trace, end), undefined);
    try {
      return start(ended);
    } finally {
      channel.end.publish(trace);
    }
  });
}

/** Whether it is known what the command took. */
function isMeasured(result: ReceiptSource): result is RunResult {
  return 'cpu' in result;
}

async function tellEnd(trace: CommandTrace, end: End): Promise<void> {
  try {
    const result = await end;
    if (result !== undefined) {
      trace.receipt = await makeReceipt(result, {});
      if (isMeasured(result)) trace.result = result;
    }
  } catch (error) {
    trace.error = error;
    channel.error.publish(trace);
  }
  channel.asyncStart.publish(trace);
  channel.asyncEnd.publish(trace);
}
