// Counts what one command takes, over many, in a process of its own.
import { fork } from 'node:child_process';
import { NotMeasured } from '../not-measured.mjs';
import { allocationCounter } from './allocations.mjs';
import { trace } from './traced.mjs';

/** @import { Counts, Kind, Row, Task, Work } from './types.d.ts' */

/** @type {readonly Kind[]} */
const KINDS = ['main thread', 'launcher', 'reactor', 'other threads', 'keeper', 'cradle'];

/** A young generation that holds all that is made while it is measured: nothing is collected. */
const NO_COLLECTION = ['--min-semi-space-size=256', '--max-semi-space-size=256'];

/**
 * The messages of the process, in their order.
 * @typedef {{ own: { work: [number, Work][], commands: number, bytes: number } }} Own
 * @typedef {{ frames: { calls: number, commands: number } }} Frames
 * @typedef {{ tasks: Task[] }} Tasks
 * @typedef {{ traced: number }} Traced
 *
 * @typedef {{
 *   byTask: ReadonlyMap<number, ReadonlyMap<string, number>>,
 *   commands: number,
 *   missing?: string,
 * }} Calls
 */

/**
 * @param {number} commands how many are counted
 * @param {number} lanes how many are in flight
 * @returns {Promise<Counts>}
 */
export async function count(commands, lanes) {
  const program = new URL('counted-process.mjs', import.meta.url);
  const counter = allocationCounter();
  const env = { ...process.env, ...counter?.variables };
  const child = fork(program, [`${commands}`, `${lanes}`], { execArgv: NO_COLLECTION, env });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const next = messagesOf(child);
  try {
    const { own } = /** @type {Own} */ (await next());
    const { frames } = /** @type {Frames} */ (await next());
    const { tasks } = /** @type {Tasks} */ (await next());
    const calls = await callsOf(tasks, child, next);
    const rows = KINDS.map((kind) => rowOf(kind, own, tasks, calls));
    return {
      lanes,
      rows: rows.filter(({ calls, cpuUs }) => calls.size > 0 || cpuUs > 0),
      heapBytes: own.bytes / own.commands,
      frames: frames.calls / frames.commands,
      ...(calls.missing !== undefined && { missing: calls.missing }),
    };
  } finally {
    child.kill('SIGTERM');
    await ended;
    counter?.remove();
  }
}

/**
 * Returns a function for the next message of a process.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => Promise<unknown>}
 */
function messagesOf(child) {
  /** @type {unknown[]} */
  const come = [];
  /** @type {{ take: (message: unknown) => void, fail: (error: Error) => void } | undefined} */
  let waiting;
  child.on('message', (message) => {
    if (waiting === undefined) come.push(message);
    waiting?.take(message);
    waiting = undefined;
  });
  /** @type {Error | undefined} */
  let failure;
  child.once('close', (code) => {
    failure = new Error(`the counted process ended with ${code}`);
    waiting?.fail(failure);
  });
  return () =>
    new Promise((take, fail) => {
      if (come.length > 0) take(come.shift());
      else if (failure !== undefined) fail(failure);
      else waiting = { take, fail };
    });
}

/**
 * @param {Task[]} tasks
 * @param {import('node:child_process').ChildProcess} child
 * @param {() => Promise<unknown>} next
 * @returns {Promise<Calls>}
 */
async function callsOf(tasks, child, next) {
  try {
    const detach = await trace(tasks);
    child.send('go');
    const { traced } = /** @type {Traced} */ (await next());
    return { byTask: await detach(), commands: traced };
  } catch (error) {
    if (!(error instanceof NotMeasured)) throw error;
    return { byTask: new Map(), commands: 1, missing: error.message };
  }
}

/**
 * @param {Kind} kind
 * @param {Own['own']} own
 * @param {readonly Task[]} tasks
 * @param {Calls} calls
 * @returns {Row}
 */
function rowOf(kind, own, tasks, { byTask, commands }) {
  const works = own.work.map(([, work]) => work).filter((work) => work.kind === kind);
  /** @param {'voluntary' | 'preempted' | 'cpuNs'} what */
  const sum = (what) => works.reduce((all, work) => all + work[what], 0) / own.commands;
  /** @type {Map<string, number>} */
  const named = new Map();
  for (const { id } of tasks.filter((task) => task.kind === kind))
    for (const [name, times] of byTask.get(id) ?? [])
      named.set(name, (named.get(name) ?? 0) + times);
  // With many in flight some cradles are newer than the trace: the others' commands are known by their clones.
  const counted = kind === 'cradle' ? (named.get('clone') ?? commands) : commands;
  const calls = [...named].map(([name, times]) => /** @type {const} */ ([name, times / counted]));
  const allocations = works.flatMap((work) => work.allocations ?? []);
  return {
    kind,
    calls: new Map(calls.sort(([, one], [, other]) => other - one)),
    voluntary: sum('voluntary'),
    preempted: sum('preempted'),
    cpuUs: sum('cpuNs') / 1000,
    ...(allocations.length > 0 && {
      allocations: allocations.reduce((all, number) => all + number, 0) / own.commands,
    }),
  };
}
