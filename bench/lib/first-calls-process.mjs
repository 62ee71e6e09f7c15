// One sample of P19, in a process of its own: the longest blocks of the main thread while 100 tools
// answer their first call at once, and then their second; and while as many commands run without any
// tool.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadForkline } from '../peers/forkline.mjs';

const { CONTRACT_NAMES, createBashTool, run } = await loadForkline();

const NS_PER_MS = 1e6;
const RESOLUTION = 1;
const EACH = 25;

/** @param {() => Promise<unknown>} work */
async function longestBlock(work) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  await sleep(5); // the monitor measures from its first tick on
  await work();
  await sleep(2); // for the delayed tick
  delay.disable();
  return Math.max(0, delay.max / NS_PER_MS - RESOLUTION);
}

// The first command loads the engine, and need not be a tool's.
await run('true');
const tools = CONTRACT_NAMES.flatMap((contract) =>
  Array.from({ length: EACH }, () => createBashTool({ contract, cwd: process.cwd() })),
);
const calls = () => Promise.all(tools.map((tool) => tool.execute({ command: 'true' })));
const first = await longestBlock(calls);
const second = await longestBlock(calls);
const bare = await longestBlock(() => Promise.all(tools.map(() => run('true'))));
await Promise.all(tools.map((tool) => tool.dispose()));
console.log(JSON.stringify({ first, second, bare }));
