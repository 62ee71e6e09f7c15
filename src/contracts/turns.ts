import { setImmediate } from 'node:timers';
import { onBehalfOfNobody } from '../engine/caller.js';

/** So many calls begin in one turn of the event loop: a few milliseconds' work, when all is new. */
const AT_ONCE = 8;

/** Of this turn, or of a later one in which nobody had to wait. */
let begun = 0;
const waiting: (() => void)[] = [];

/**
 * Resolves when a call may go on: at once, unless many begin together. What is done for a hundred
 * would hold up everybody else's timers and answers, and none of their commands starts the sooner.
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
