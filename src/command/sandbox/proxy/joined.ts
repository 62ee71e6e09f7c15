import type { Socket } from 'node:net';

/** So long nothing has to come when one side has said that it sends no more. */
const HALF_OPEN_MS = 120_000;

/**
 * Hands on what each of two sides sends until both have ended, or one has gone. One that has only said
 * that it sends no more is still sent to.
 */
export function join(one: Socket, other: Socket): void {
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
  if (one.destroyed || other.destroyed) leave();
  else one.pipe(other).pipe(one);
}
