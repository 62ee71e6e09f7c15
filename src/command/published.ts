import type { EngineCommand } from '../engine/message.js';
import type { RunResult } from '../engine/outcome.js';
import { isTraced } from '../receipt/channel.js';
import { traceCommand } from '../receipt/trace.js';

/** Takes how a command has ended; `undefined`: it was cancelled before its start. Is called for subscribers alone. */
export type PublishEnd = (end: () => Promise<RunResult> | undefined) => void;

/**
 * Starts a command whose end is told by its caller, and publishes it on the tracing channel if there are subscribers.
 *
 * @param start Is given the function to call with the command's end.
 */
export function publishCommand(command: EngineCommand, start: (ended: PublishEnd) => void): void {
  if (!isTraced()) {
    start(() => {});
    return;
  }
  const { text, directory: cwd, timeoutMs } = command;
  traceCommand({ command: text, cwd, timeoutMs, detached: false }, (ended) =>
    start((end) => ended(end())),
  );
}
