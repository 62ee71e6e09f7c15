import { makeKeepAlive } from '../../support/timing.js';
import { onBehalfOfNobody } from '../caller.js';

const holders = new Set<object>();
let keepAlive: NodeJS.Timeout | undefined;

/** Sets whether the host's event loop stays alive for a holder. */
export function holdFor(holder: object, holds: boolean): void {
  if (holds) holders.add(holder);
  else holders.delete(holder);
  if (holders.size === 0) keepAlive?.unref();
  else {
    keepAlive ??= onBehalfOfNobody(makeKeepAlive);
    keepAlive.ref();
  }
}
