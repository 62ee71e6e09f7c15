// A host of many agents, in a process of its own: runs the mix of commands by one program, and answers a
// client meanwhile. Reports the speed and the delays.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { CLIENT_FILE } from '../build-floor.mjs';
import { quantile } from '../statistics.mjs';
import { commands, digest, withoutEnd } from './repository.mjs';
import { runners } from './runners.mjs';

/**
 * @typedef {object} Setting
 * @property {string} program that runs the commands
 * @property {'burst' | 'paced'} arrivals
 * @property {number} count of commands
 * @property {number} agents
 * @property {number} bytes of memory that the host has touched
 * @property {string} directory
 * @property {Record<string, string>} references a digest of each command's output
 */

/**
 * @typedef {object} Found
 * @property {number} perSecond commands
 * @property {number} loopP99 in milliseconds, as are the following
 * @property {number} httpP99
 * @property {number} commandP50
 * @property {number} wrong outputs
 */

const FLOOR = new URL('floor-worker.mjs', import.meta.url);
const HTTP_EVERY_MS = 10;
const COMMAND_EVERY_MS = 40;
const NS_PER_MS = 1e6;

/** @type {Setting} */
const setting = JSON.parse(process.argv[2] ?? '');
const { program, arrivals, count, agents, bytes, directory, references } = setting;
const held = bytes > 0 ? Buffer.allocUnsafeSlow(bytes).fill(1) : undefined;
process.chdir(directory);

const list = commands(count);
let wrong = 0;
/** @type {number[]} */
const took = [];

/** @param {string} command */
async function one(command) {
  const start = performance.now();
  const printed = await runners[program]?.(command);
  took.push(performance.now() - start);
  if (digest(withoutEnd(printed ?? '')) !== references[command]) wrong += 1;
}

async function burst() {
  let next = 0;
  const agent = async () => {
    for (let command = list[next++]; command !== undefined; command = list[next++]) {
      await one(command);
    }
  };
  await Promise.all(Array.from({ length: agents }, agent));
}

async function paced() {
  const start = performance.now();
  await Promise.all(
    list.map(async (command, index) => {
      await sleep(start + index * COMMAND_EVERY_MS - performance.now());
      await one(command);
    }),
  );
}

/** On a thread of its own, since it blocks. */
async function floor() {
  const worker = new Worker(FLOOR, { workerData: { list, agents } });
  await once(worker, 'exit');
}

const server = createServer((_, answer) => answer.end('ok')).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = /** @type {import('node:net').AddressInfo} */ (server.address());
const words = [String(address.port), String(HTTP_EVERY_MS)];
const client = spawn(CLIENT_FILE, words, { stdio: ['pipe', 'pipe', 'ignore'] });
const heard = text(client.stdout);
await sleep(300);

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await sleep(5);
const start = performance.now();
if (program === 'floor') await floor();
else if (arrivals === 'burst') await burst();
else await paced();
const seconds = (performance.now() - start) / 1000;
await sleep(20);
delay.disable();
client.stdin.end();
const late = /** @type {number[]} */ (JSON.parse(await heard));
server.closeAllConnections();
server.close();

/** @type {Found} */
const found = {
  perSecond: count / seconds,
  loopP99: Math.max(0, delay.percentile(99) / NS_PER_MS - 1),
  httpP99: quantile(late, 0.99),
  commandP50: took.length === 0 ? 0 : quantile(took, 0.5),
  wrong,
};
console.log(JSON.stringify({ ...found, held: held?.length }));
