import type { Capture } from '../../faces/engine.js';
import { lastBytes } from '../../support/text.js';

/** Bytes of output that are sent to a client that does not listen. */
const TAIL_BYTES = 8 * 1024;

/** Returns the end of a command's output. */
export function tailOf(captures: readonly Capture[]): string {
  return lastBytes(captures.map(endOf).join(''), TAIL_BYTES);
}

function endOf(capture: Capture): string {
  return capture.kind === 'complete' ? capture.text : capture.tail;
}
