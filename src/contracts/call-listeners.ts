import type { OutputChunk } from '../engine/outcome.js';
import { Listener } from '../pipeline/listener.js';
import { TailUpdates } from '../pipeline/tail-updates.js';
import type { ToolCall } from './contract.js';

/** Those who listen to one call. */
export interface CallListeners {
  /** Tells them what the command has printed. */
  readonly tell: (chunk: OutputChunk) => void;
  /** The command is over: they hear nothing more. */
  stop(): void;
}

const UPDATE_INTERVAL_MS = 50;

/**
 * The listeners of a call; undefined: there are none, so that nothing has to be delivered while the
 * command runs.
 *
 * @param tailBytes UTF-8 bytes of output that an update carries at most.
 */
export function listenTo<Details>(
  call: ToolCall<Details>,
  tailBytes: number,
): CallListeners | undefined {
  if (call.onUpdate === undefined && call.onOutput === undefined) return undefined;
  const onUpdate = new Listener('onUpdate', call.onUpdate);
  const onOutput = new Listener('onOutput', call.onOutput);
  const tail = new TailUpdates({
    maxBytes: tailBytes,
    intervalMs: UPDATE_INTERVAL_MS,
    emit: (text) => onUpdate.tell({ content: [{ type: 'text', text }], details: {} }),
  });
  return {
    tell(chunk) {
      tail.push(chunk);
      onOutput.tell(chunk);
    },
    stop() {
      tail.stop();
      onOutput.stop();
    },
  };
}
