const IN_FLIGHT = 48;
const REPORT_EVERY_MS = 10_000;

/**
 * Calls `work` `times` times, with a limit of calls at once.
 * @param {number} times
 * @param {(index: number) => Promise<unknown>} work
 * @param {string} [name] for progress lines
 */
export async function many(times, work, name) {
  let next = 0;
  let said = performance.now();
  const lane = async () => {
    while (next < times) {
      await work(next++);
      if (name === undefined || performance.now() - said < REPORT_EVERY_MS) continue;
      said = performance.now();
      console.error(`${next} of ${times} ${name}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}
