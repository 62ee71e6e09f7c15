import { inCallersContext } from '../engine/caller.js';
import type { RunResult } from '../engine/outcome.js';
import { type CommandTrace, commandChannel } from './channel.js';
import { makeReceipt, type ReceiptContext, type ReceiptSource } from './receipt.js';

/** The end of a command: a result, or nothing when it is detached. */
type TracedEnd = ReceiptSource | undefined | Promise<ReceiptSource | undefined>;

/** Facts about the command beyond its result; asked for once there is one. */
type FactsOf = () => Promise<ReceiptContext>;

const NO_FACTS: FactsOf = async () => ({});

/** Takes a command's end, and what the receipt of its answer is made from besides. */
type TellEnd = (end: TracedEnd, facts?: FactsOf) => void;

/**
 * Starts a command and publishes its events: `start` and `end` around the start, `asyncStart` and
 * `asyncEnd` when it has ended, `error` before these when it has no result. The command does not wait for
 * subscribers.
 *
 * @param start Starts the command; is given the function to call with its end.
 */
export function traceCommand<T>(
  asked: Pick<CommandTrace, 'command' | 'cwd' | 'timeoutMs' | 'detached'>,
  start: (ended: TellEnd) => T,
): T {
  const trace: CommandTrace = { ...asked };
  return commandChannel.start.runStores(trace, () => {
    const told: TellEnd = (end, facts = NO_FACTS) => void tellEnd(trace, end, facts);
    const ended = inCallersContext(told, undefined);
    try {
      return start(ended);
    } finally {
      commandChannel.end.publish(trace);
    }
  });
}

/** Returns whether the result has the command's CPU time. */
function isMeasured(result: ReceiptSource): result is RunResult {
  return 'cpu' in result;
}

async function tellEnd(trace: CommandTrace, end: TracedEnd, facts: FactsOf): Promise<void> {
  try {
    const result = await end;
    if (result !== undefined) {
      trace.receipt = await makeReceipt(result, await facts());
      if (isMeasured(result)) trace.result = result;
    }
  } catch (error) {
    trace.error = error;
    commandChannel.error.publish(trace);
  }
  commandChannel.asyncStart.publish(trace);
  commandChannel.asyncEnd.publish(trace);
}
