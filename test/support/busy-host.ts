/**
 * Does some work while the host's thread is busy with other things, so many milliseconds of each of
 * its turns.
 */
export async function whileBusy<T>(busyMs: number, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    const until = performance.now() + busyMs;
    while (performance.now() < until);
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    return await work();
  } finally {
    isOver = true;
  }
}
