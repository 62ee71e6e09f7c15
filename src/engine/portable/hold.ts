import { makeKeepAlive } from '../../support/timing.js';
import { onBehalfOfNobody } from '../caller.js';

const holders = new Set<object>();
let keepAlive: NodeJS.Timeout | undefined;

/** Whether the host's event loop goes on for its sake. */
export function holdFor(holder: object, holds: boolean): void {
  if (holds) holders.add(holder);
  else holders.delete(holder);
  if (holders.size === 0) keepAlive?.unref();
  else {
    keepAlive ??= onBehalfOfNobody(makeKeepAlive);
    keepAlive.ref();
  }
}
