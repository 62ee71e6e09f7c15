/** @import { Rounds, Task } from './types.d.ts' */
import { Bench } from 'tinybench';

/**
 * @param {readonly Task[]} tasks
 * @param {number} by
 */
const rotated = (tasks, by) => tasks.map((_, index) => tasks[(index + by) % tasks.length]);

/**
 * Runs the tasks round by round, each round a small tinybench run of all of them, so that noise of the
 * machine affects all alike. Each round begins with another task, so that none always follows a slow one.
 * @param {readonly Task[]} tasks
 * @param {{ rounds: number, iterations?: number }} options iterations of each task in a round
 * @returns {Promise<(name: string) => Rounds>} the samples in milliseconds, by the task's name
 */
export async function interleave(tasks, { rounds, iterations = 1 }) {
  /** @type {Map<string, number[][]>} */
  const samples = new Map(tasks.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, times] of await runRound(rotated(tasks, round), iterations)) {
      samples.get(name)?.push(times);
    }
  }
  return (name) => {
    const found = samples.get(name);
    if (!found) throw new RangeError(`no task is named ${name}`);
    return found;
  };
}

/**
 * @param {readonly (Task | undefined)[]} tasks
 * @param {number} iterations
 * @returns {Promise<[string, number[]][]>}
 */
async function runRound(tasks, iterations) {
  // The caller warms up: a round of its own, thrown away, costs less than a warm-up in each round.
  const bench = new Bench({
    iterations,
    time: 0,
    warmup: false,
    retainSamples: true,
    throws: true,
  });
  for (const task of tasks) {
    if (task) bench.add(task.name, () => measured(task), { async: true });
  }
  const done = await bench.run();
  return done.map(({ name, result }) => {
    if (result.state !== 'completed') throw new Error(`${name}: ${result.state}`);
    return [name, [...(result.latency.samples ?? [])]];
  });
}

/** @param {Task} task */
async function measured(task) {
  const milliseconds = await task.run();
  // tinybench times the call, unless the task returns a time.
  return milliseconds === undefined ? {} : { overriddenDuration: milliseconds };
}

/**
 * Runs every task, untimed, so that modules are loaded and code is compiled before the first figure.
 * @param {readonly Task[]} tasks
 */
export async function warmUp(tasks, times = 5) {
  for (let time = 0; time < times; time++) {
    for (const task of tasks) await task.run();
  }
}
