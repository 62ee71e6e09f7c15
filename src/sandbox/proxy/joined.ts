import type { Socket } from 'node:net';

/** So long nothing has to come when one side has said that it sends no more. */
const HALF_OPEN_MS = 120_000;

/** Of what one side has said so far; an `answer` is its last word to that side. */
export type Verdict = 'undecided' | 'passes' | { readonly answer: Buffer };

/**
 * Hands on what each of two sides sends until both have ended, or one has gone. One that has only said
 * that it sends no more is still sent to.
 *
 * @param judge Of what the one begins with, which waits for that. Default: it passes.
 */
export function join(one: Socket, other: Socket, judge?: (said: Buffer) => Verdict): void {
  const leave = (): void => {
    one.destroy();
    other.destroy();
  };
  const follow = (side: Socket, beyond: Socket): void => {
    side.on('error', leave);
    side.once('end', () => {
      for (const each of [one, other]) each.setTimeout(HALF_OPEN_MS, leave);
    });
    side.once('close', () => {
      // All has come, and may be on its way still.
      if (side.readableEnded && !beyond.writableFinished) beyond.once('finish', leave);
      else leave();
    });
  };
  follow(one, other);
  follow(other, one);
  // One may have gone while the other was looked for.
  if (one.destroyed || other.destroyed) {
    leave();
    return;
  }
  other.pipe(one);
  if (judge === undefined) {
    one.pipe(other);
    return;
  }
  whenJudged(one, judge, (said, verdict) => {
    if (typeof verdict === 'object') {
      other.unpipe(one);
      one.end(verdict.answer, leave);
      return;
    }
    if (said.length > 0) other.write(said);
    one.pipe(other);
  });
}

/** Once that is decided; what has ended before is what it is. */
function whenJudged(
  side: Socket,
  judge: (said: Buffer) => Verdict,
  tell: (said: Buffer, verdict: Verdict) => void,
): void {
  let said = Buffer.alloc(0);
  const look = (): void => {
    const chunk: Buffer | null = side.read();
    if (chunk !== null) said = Buffer.concat([said, chunk]);
    else if (!side.readableEnded) return;
    const verdict = said.length === 0 ? 'undecided' : judge(said);
    if (verdict === 'undecided' && !side.readableEnded) return;
    side.off('readable', look).off('end', look);
    tell(said, verdict);
  };
  side.on('readable', look).on('end', look);
  look();
}
