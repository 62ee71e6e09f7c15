/** What is under way at once: enough for the threads of the file system, and no more. */
const BATCH = 32;

/**
 * Does something with each, a few at a time and in order: the host's thread has its turns between,
 * however many there are.
 *
 * @param goesOn Asked before each batch. Default: to the end.
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
