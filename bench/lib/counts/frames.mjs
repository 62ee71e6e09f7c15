// Functions of forkline that JavaScript enters.
import { Session } from 'node:inspector/promises';

/** What the package is built to. */
const FORKLINE = new URL('../../../dist/', import.meta.url).href;

/**
 * Returns how many times functions of forkline are called while `work` runs, by V8's precise coverage.
 * @param {() => Promise<unknown>} work
 */
export async function framesOf(work) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  await session.post('Profiler.disable');
  session.disconnect();
  const ours = result.filter(({ url }) => url.startsWith(FORKLINE));
  const calls = ours.flatMap(({ functions }) =>
    functions.map(({ ranges }) => ranges[0]?.count ?? 0),
  );
  return calls.reduce((sum, count) => sum + count, 0);
}
