import type { Socket } from 'node:net';

/** The time without data after which a half-closed connection is closed. */
const HALF_OPEN_MS = 120_000;

/** The judgement of one side's data so far; an `answer` is sent to that side as its last data. */
export type Verdict = 'undecided' | 'passes' | { readonly answer: Buffer };

/**
 * Forwards data between two sockets until both have ended, or one is closed. A half-closed side still
 * gets data.
 *
 * @param judge Judges the first data of `one`, which is held back until then. Default: it passes.
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
      // All data was received, but may not have been sent yet.
      if (side.readableEnded && !beyond.writableFinished) beyond.once('finish', leave);
      else leave();
    });
  };
  follow(one, other);
  follow(other, one);
  // One side may have disconnected while the other was connected.
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

/** Tells the verdict once there is one; when the side has ended, that of its last data. */
function whenJudged(
  side: Socket,
  judge: (said: Buffer) => Verdict,
  tell: (said: Buffer, verdict: Verdict) => void,
): void {
  let said = Buffer.alloc(0);
  const look = (): void => closingOnError(side, judgeNext);
  const judgeNext = (): void => {
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

/** A connection, or the answer on it. */
interface Closeable {
  destroy(): unknown;
}

/**
 * Handles an event of a connection, and closes the connection if that throws. Commands and servers choose
 * what is handled, and an error that left an event's listener would end the host.
 */
export function closingOnError(connection: Closeable, handle: () => void): void {
  try {
    handle();
  } catch {
    connection.destroy();
  }
}
