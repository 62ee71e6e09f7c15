// The process whose work is counted: `node counted-process.mjs COUNT LANES`. It runs `echo hi` in as many lanes
// without a pause, so that the same cradles serve all of it, and tells its parent what it counts by itself.
import { accessSync } from 'node:fs';
import { loadForkline } from '../../peers/forkline.mjs';
import { ECHO } from '../tasks.mjs';
import { ownAllocations } from './allocations.mjs';
import { framesOf } from './frames.mjs';
import { BEGIN, END } from './marks.mjs';
import { tasks, workOf } from './threads.mjs';

const [count = 0, lanes = 1] = process.argv.slice(2).map(Number);
const WARM_UP = 300;
const allocations = ownAllocations();
const { run } = await loadForkline();

let done = 0;
let isOver = false;
/** @type {{ at: number, reached: () => void }[]} */
const waits = [];

async function lane() {
  while (!isOver) {
    await run(ECHO);
    done += 1;
    while (waits[0] !== undefined && waits[0].at <= done) waits.shift()?.reached();
  }
}

/**
 * Waits until so many more commands have ended.
 * @param {number} more
 */
const commands = (more) =>
  new Promise((resolve) => {
    waits.push({ at: done + more, reached: () => resolve(undefined) });
  });

/**
 * Marks a place in the trace of this thread's system calls.
 * @param {string} path
 */
function mark(path) {
  try {
    accessSync(path);
  } catch {
    // It is no file.
  }
}

/** Switches, CPU time and allocations of each thread, and bytes of V8's heap, while commands run. */
async function own() {
  const before = workOf(tasks(), allocations?.());
  const heap = process.memoryUsage().heapUsed;
  const from = done;
  await commands(count);
  const bytes = process.memoryUsage().heapUsed - heap;
  return { work: [...workOf(tasks(), allocations?.(), before)], commands: done - from, bytes };
}

/** Runs commands while another process attaches to these threads, and then those that it counts. */
async function traced() {
  process.send?.({ tasks: tasks() });
  await new Promise((resolve) => process.once('message', resolve));
  const from = done;
  mark(BEGIN);
  await commands(count);
  mark(END);
  return done - from;
}

const running = Array.from({ length: lanes }, lane);
await commands(Math.max(WARM_UP, lanes * 4));
process.send?.({ own: await own() });
const from = done;
const calls = await framesOf(() => commands(count));
process.send?.({ frames: { calls, commands: done - from } });
process.send?.({ traced: await traced() });
isOver = true;
await Promise.all(running);
process.disconnect();
