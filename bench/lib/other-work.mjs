// Measures how busy other programs keep the machine during a benchmark, which makes its figures doubtful.
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100; // USER_HZ: the unit of /proc, whatever the kernel's own clock

/** CPU seconds that all programs have used since boot. */
function everybody() {
  const [, ...fields] = (/^cpu .*/.exec(readFileSync('/proc/stat', 'utf8'))?.[0] ?? '').split(
    /\s+/,
  );
  const [user = 0, nice = 0, system = 0, , , interrupt = 0, soft = 0, stolen = 0] =
    fields.map(Number);
  return (user + nice + system + interrupt + soft + stolen) / TICKS_PER_SECOND;
}

/** CPU seconds of this process and of all its descendants that have been waited for. */
function ourselves() {
  // The second field is the program's name in parentheses and may contain anything.
  const afterName = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1) ?? '';
  const times = afterName.split(' ').slice(11, 15).map(Number);
  return times.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/**
 * Starts measuring.
 * @returns {() => number} the average number of cores that were busy with other work since
 */
export function watchOtherWork() {
  const start = { at: performance.now(), all: everybody(), own: ourselves() };
  return () => {
    const seconds = (performance.now() - start.at) / 1000;
    const busy = everybody() - start.all - (ourselves() - start.own);
    return Math.max(0, busy / seconds);
  };
}
