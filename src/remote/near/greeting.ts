import type { Readable } from 'node:stream';
import { lastBytes, visibleLines } from '../../support/text.js';
import { startTimer } from '../../support/timing.js';
import { PREAMBLE } from '../wire/protocol.js';

/** Bytes that a login may print before the far side speaks. */
const MOST_NOISE = 64 * 1024;
/** Bytes of that text that are shown if the far side never speaks. */
const TOLD_NOISE = 512;

/** The same bytes after a terminal has changed them. */
const ON_TERMINAL = PREAMBLE.replace('\n', '\r\n');
const HAS_TERMINAL =
  'there is a terminal in between, which changes bytes: leave out -t (`docker exec -i`, `ssh -T`)';

/**
 * Waits for the far side's first bytes, and drops what a login or a shell's start-up files have printed
 * before them.
 *
 * @param ended Settles with the reason when nothing more can come.
 * @throws Error The other side is no far side.
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
        else if (seen.length > MOST_NOISE) fail('its output is not from `forkline serve`');
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
