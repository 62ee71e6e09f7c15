// Needs libraries that are loaded late while it has no descriptors left, and again when it has.
// `told` makes tools that say beforehand what they will need; `unmade` makes them only then; `fleet`
// connects to a broker that is not there.
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectFleet } from '../../../dist/fleet/index.js';
import {
  CONTRACT_NAMES,
  createBashTool,
  createUrlRegistry,
  run,
  runInConsole,
} from '../../../dist/index.js';

/** @type {number[]} */
let files = [];

function fill() {
  try {
    for (;;) files.push(openSync('/dev/null', 'r'));
  } catch {
    // That is what was wanted.
  }
}

function free() {
  for (const file of files) closeSync(file);
  files = [];
}

const ui = { openConsole: () => ({ draw: () => {}, close: () => {} }) };
/** @type {Record<string, () => Promise<unknown>>} */
const calls = {};

/** @param {Parameters<typeof createBashTool>[0]} options */
function make(options) {
  const tool = createBashTool(options);
  /** @param {string} command */
  return async (command) => (await tool.execute({ command })).content[0]?.text;
}

const cwd = '/';
const contract = /** @type {const} */ ('workspace');
if (process.argv[2] === 'told') {
  const urls = createUrlRegistry({ local: { resolve: () => ({ path: '/x' }) } });
  const withUrls = make({ contract, cwd, urls });
  calls.urls = () => withUrls('echo local://x');
  const intercepted = make({ contract, cwd, interceptor: { enabled: true, tools: ['read'] } });
  calls.interceptor = () => intercepted('cat x');
} else if (process.argv[2] === 'unmade') {
  for (const each of CONTRACT_NAMES) {
    calls[each] = async () => make({ contract: each, cwd })('echo one');
  }
} else if (process.argv[2] === 'fleet') {
  calls.fleet = () => connectFleet({ servers: '127.0.0.1:1' });
} else {
  const plain = make({ contract, cwd });
  calls.warm = () => plain('echo one');
  calls.parser = () => plain('echo local://x');
  calls.terminal = async () => (await runInConsole('echo one', { ui })).text;
}

async function report() {
  /** @type {Record<string, unknown>} */
  const told = {};
  for (const [name, call] of Object.entries(calls)) {
    told[name] = await call().catch((error) => ({ ...error, message: error.message }));
  }
  return told;
}

await run('true');
// What the tools asked for when they were made.
await sleep(500);
fill();
const starved = await report();
free();
const fed = await report();
console.log(JSON.stringify({ starved, fed }));
process.stdin.resume();
