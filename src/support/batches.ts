/** Calls in progress at once: enough for the threads of the file system, and no more. */
const BATCH = 32;

/**
 * Calls `work` for each item, a few at a time and in order, so that the host's thread is not blocked,
 * however many items there are.
 *
 * @param goesOn Asked before each batch whether to continue. Default: to the end.
 */
export async function inBatches<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  goesOn: () => boolean = () => true,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length && goesOn(); at += BATCH) {
    results.push(...(await Promise.all(items.slice(at, at + BATCH).map(work))));
  }
  return results;
}
