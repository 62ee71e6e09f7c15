import { tracingChannel } from 'node:diagnostics_channel';
import type { RunResult } from '../engine/outcome.js';
import type { Receipt } from './receipt.js';

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

/** The channel of commands, on which `traceCommand()` publishes. */
export const commandChannel = tracingChannel<unknown, CommandTrace>('forkline:command');
const { start, end, asyncStart, asyncEnd, error } = commandChannel;
const channels = [start, end, asyncStart, asyncEnd, error];

/**
 * Returns whether any event of commands has a subscriber. Without one, that is the whole cost of the
 * channel. Asks each event's channel, since Bun's channel of all events does not know it.
 */
export function isTraced(): boolean {
  return channels.some(({ hasSubscribers }) => hasSubscribers);
}
