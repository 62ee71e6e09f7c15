import { setImmediate } from 'node:timers';
import { onBehalfOfNobody } from '../engine/caller.js';

/** Calls that may begin in one turn of the event loop: a few milliseconds of work for the first ones. */
const AT_ONCE = 8;

/** Calls that have begun since the count was reset, which happens only in a turn with waiting calls. */
let begun = 0;
const waiting: (() => void)[] = [];

/**
 * Resolves when a call may go on; undefined: at once, unless many begin together. A hundred calls in one turn
 * would delay all timers and answers of the host, and none of their commands would start earlier.
 */
export function itsTurn(): Promise<void> | undefined {
  if (begun < AT_ONCE && waiting.length === 0) {
    begun += 1;
    return undefined;
  }
  if (waiting.length === 0) onBehalfOfNobody(() => setImmediate(nextTurn));
  return new Promise((go) => waiting.push(go));
}

function nextTurn(): void {
  const next = waiting.splice(0, AT_ONCE);
  begun = next.length;
  if (waiting.length > 0) onBehalfOfNobody(() => setImmediate(nextTurn));
  for (const go of next) go();
}
