import { messageOf } from '../../support/errors.js';
import { pause } from '../../support/timing.js';

/** How long a record may still be written, or a sandbox be ending, when its command has ended, in milliseconds. */
const LATE_MS = 2000;
const PAUSE_MS = 20;
const IN_USE = /^(?:journal \S+ is|held changes \S+ are) in use/;

/**
 * Does something with a record, which may be in use for a moment.
 *
 * @throws {Error} It is in use for longer than 2 seconds; or other errors of `act`.
 */
export async function unlessInUse<Done>(act: () => Promise<Done>): Promise<Done> {
  const until = performance.now() + LATE_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!IN_USE.test(messageOf(error)) || performance.now() > until) throw error;
    }
    await pause(PAUSE_MS);
  }
}
