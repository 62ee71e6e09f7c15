// Counts what a warm plain call enters: `node scripts/house/walk.mjs [--list] [--functions] [NAME...]`.
// For `run('true')`, and for `echo hi` given to a tool of each contract, prints how many files of src had a
// function entered, and how many functions that were, by V8 precise coverage. `--list` prints the files as well,
// `--functions` their functions. Build the addon first.
//
// The source is compiled file by file into build/walk, where the package finds itself by its name.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const WARM_UP = 10;
/** Timers of earlier calls may fire in one: the call with the fewest functions counts. */
const MEASURED = 5;
/** Milliseconds after a call's answer in which what it still does counts as well. */
const AFTERMATH_MS = 20;

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const target = join(root, 'build', 'walk');
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

rmSync(target, { recursive: true, force: true });
const flags = ['--outDir', target, '--declaration', 'false', '--noCheck'];
execFileSync(join(root, 'node_modules', '.bin', 'tsc'), flags, {
  cwd: root,
  stdio: ['ignore', 2, 2],
});

/** @type {typeof import('../../src/index.js')} */
const { run, createBashTool } = await import(pathToFileURL(join(target, 'index.js')).href);
const session = new Session();
session.connect();
await session.post('Profiler.enable');

const CONTRACTS = /** @type {const} */ (['plain', 'modes', 'session', 'workspace']);
await measure('run', () => run('true'));
for (const contract of CONTRACTS) {
  const tool = createBashTool({ contract, cwd: root });
  await measure(contract, () => tool.execute({ command: 'echo hi' }));
  await tool.dispose();
}
session.disconnect();

/**
 * @param {string} name
 * @param {() => Promise<unknown>} call
 */
async function measure(name, call) {
  if (asked.length > 0 && !asked.includes(name)) return;
  for (let calls = 0; calls < WARM_UP; calls += 1) await call();
  const walks = [];
  for (let calls = 0; calls < MEASURED; calls += 1) walks.push(await walkOf(call));
  const fewest = Math.min(...walks.map(({ functions }) => functions));
  const walk = walks.find(({ functions }) => functions === fewest);
  if (walk !== undefined) print(name, walk);
}

/** @param {() => Promise<unknown>} call */
async function walkOf(call) {
  await sleep(AFTERMATH_MS);
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await call();
  await sleep(AFTERMATH_MS);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  /** @type {Map<string, string[]>} */
  const files = new Map();
  const ours = pathToFileURL(target).href;
  for (const { url, functions } of result) {
    if (!url.startsWith(`${ours}/`)) continue;
    const entered = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    const names = entered.map(({ functionName }) => functionName || '(anonymous)');
    if (names.length > 0) files.set(url.slice(ours.length + 1).replace(/\.js$/, '.ts'), names);
  }
  return { files, functions: [...files.values()].flat().length };
}

/**
 * @param {string} name
 * @param {Awaited<ReturnType<typeof walkOf>>} walk
 */
function print(name, { files, functions }) {
  const figures = `${String(files.size).padStart(3)} files ${String(functions).padStart(4)} functions`;
  console.log(`${name.padEnd(10)}${figures}`);
  const showsFunctions = process.argv.includes('--functions');
  if (!showsFunctions && !process.argv.includes('--list')) return;
  for (const [file, names] of [...files].sort()) {
    console.log(
      `  ${String(names.length).padStart(3)} ${file}${showsFunctions ? `: ${names.join(', ')}` : ''}`,
    );
  }
}
