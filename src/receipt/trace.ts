import { tracingChannel } from 'node:diagnostics_channel';
import { inCallersContext } from '../engine/caller.js';
import type { RunResult } from '../engine/outcome.js';
import { makeReceipt, type Receipt, type ReceiptContext, type ReceiptSource } from './receipt.js';

/**
 * The message of the tracing channel `forkline:command` about one command; the same object for all its
 * events.
 */
export interface CommandTrace {
  /** The text that the shell is given. */
  readonly command: string;
  /** The working directory; undefined: the host's. */
  readonly cwd: string | undefined;
  /** The time limit; undefined: none. */
  readonly timeoutMs: number | undefined;
  /** Whether the command is detached: it outlives the host, and its end is not known. */
  readonly detached: boolean;
  /** Set once the command has ended, unless it is detached, or one of several in a persistent shell. */
  result?: RunResult;
  /** Set once the command has ended, unless it is detached. */
  receipt?: Receipt;
  /** Why there is no result: the command could not be started, or its listener threw. */
  error?: unknown;
}

const commandChannel = tracingChannel<unknown, CommandTrace>('forkline:command');
const { start, end, asyncStart, asyncEnd, error } = commandChannel;
const channels = [start, end, asyncStart, asyncEnd, error];

/**
 * Returns whether any event of commands has a subscriber. Without one, that is the whole cost of the
 * channel. Asks each event's channel, since Bun's channel of all events does not know it.
 */
export function isTraced(): boolean {
  return channels.some(({ hasSubscribers }) => hasSubscribers);
}

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
