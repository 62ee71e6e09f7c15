import type { Readable } from 'node:stream';
import { lastBytes, visibleLines } from '../../support/text.js';
import { startTimer } from '../../support/timing.js';
import { PREAMBLE } from '../wire/protocol.js';

/** A login may say so much before the far side does, in bytes. */
const MOST_NOISE = 64 * 1024;
/** If it then never speaks, so much of it is told. */
const TOLD_NOISE = 512;

/** As a terminal passes it on. */
const ON_TERMINAL = PREAMBLE.replace('\n', '\r\n');
const HAS_TERMINAL =
  'there is a terminal in between, which changes bytes: leave out -t (`docker exec -i`, `ssh -T`)';

/**
 * What a far side says, without what a shell's start-up files, or a login, have printed before.
 *
 * @param ended Settles when nothing more can come, with why.
 * @throws Error It is no far side that speaks there.
 */
export function skipGreeting(
  output: Readable,
  ended: Promise<string>,
  readyMs: number,
): Promise<Readable> {
  const preamble = Buffer.from(PREAMBLE);
  return new Promise((resolve, reject) => {
    let seen = Buffer.alloc(0);
    const fail = (reason: string): void => {
      stop();
      reject(new Error(reason));
    };
    const failWithNoise = (reason: string): void => {
      const noise = visibleLines(lastBytes(seen.toString(), TOLD_NOISE));
      fail(noise === '' ? reason : `${reason}; it printed: ${noise}`);
    };
    const late = `nothing came within ${readyMs} ms`;
    const stopTimer = startTimer(readyMs, () => failWithNoise(late));
    const stop = (): void => {
      stopTimer();
      output.off('data', look);
    };
    function look(chunk: Buffer): void {
      seen = Buffer.concat([seen, chunk]);
      const at = seen.indexOf(preamble);
      if (at === -1) {
        if (seen.includes(ON_TERMINAL)) fail(HAS_TERMINAL);
        else if (seen.length > MOST_NOISE) fail('what comes is not from `forkline serve`');
        return;
      }
      stop();
      output.pause();
      const rest = seen.subarray(at + preamble.length);
      if (rest.length > 0) output.unshift(rest);
      resolve(output);
    }
    output.on('data', look);
    ended.then(failWithNoise);
  });
}
