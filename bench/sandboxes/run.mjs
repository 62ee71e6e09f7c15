// The local machines of frameworks against ours: `node bench/sandboxes/run.mjs [--write] [MACHINE...]`,
// after a build. It prints the table of docs/frameworks-sandboxes.md, or writes it there. FRAMEWORKS=DIR
// names a directory with packages that are too big for this repository:
// `npm install --prefix DIR @mastra/core@1 zod@4`.

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CASES } from './cases.mjs';
import { MACHINES, versionOf } from './machines.mjs';

const LIMIT_MS = 120_000;
const HOLD = 'The host is killed: nothing of a command goes on';
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

const asked = process.argv.slice(2).filter((argument) => argument !== '--write');
const names = Object.keys(MACHINES).filter(
  (name) =>
    (asked.length === 0 || asked.includes(name)) &&
    versionOf(MACHINES[name]?.package ?? '') !== undefined,
);

/** Ends the processes that a case has left. @param {string} seconds */
async function sweep(seconds) {
  process.env.SLEEP_SECONDS = seconds;
  const { running } = await import(`./sleepers.mjs?${seconds}`);
  const left = running();
  for (const pid of left) process.kill(pid, 'SIGKILL');
  return left.length;
}

/** @param {string} machine @param {string} name @returns {Promise<string>} a cell of the table */
async function cellOf(machine, name) {
  const seconds = `7200.${Math.floor(Math.random() * 1e9)}`;
  const child = spawn(process.execPath, [here('case.mjs'), machine, name], {
    env: { ...process.env, SLEEP_SECONDS: seconds },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (data) => {
    text += data;
    if (name === 'hold') child.kill('SIGKILL');
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  if (name === 'hold') await sleep(7000);
  const left = await sweep(seconds);
  if (name === 'hold') return left === 0 ? '✓' : `✗ ${left} go on`;
  if (text === '') return '✗ the host died, or took over 2 min';
  const { kept, note } = JSON.parse(text);
  const sign = name === 'call' ? '' : kept === undefined ? '–' : kept ? '✓' : '✗';
  return `${sign} ${note.replaceAll('|', '\\|').replaceAll('\n', ' ')}`.trim();
}

/** @type {string[][]} */
const rows = [];
for (const name of [...Object.keys(CASES), 'hold']) {
  const cells = [];
  for (const machine of names) {
    const cell = await cellOf(machine, name);
    process.stderr.write(`${name}, ${machine}: ${cell}\n`);
    cells.push(cell);
  }
  rows.push([CASES[name]?.title ?? HOLD, ...cells]);
}

const heads = names.map((name) => {
  const { framework = '', package: directory = '' } = MACHINES[name] ?? {};
  return framework.replace(':', ` ${versionOf(directory)}:`);
});
const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`;
const table = [line(['', ...heads]), line(['---', ...heads.map(() => '---')]), ...rows.map(line)];

if (process.argv.includes('--write')) {
  const page = here('../../docs/frameworks-sandboxes.md');
  const between = /(<!-- table -->\n)[\s\S]*(\n<!-- \/table -->)/;
  const text = readFileSync(page, 'utf8');
  writeFileSync(
    page,
    text.replace(between, (_, start, end) => start + table.join('\n') + end),
  );
} else {
  console.log(table.join('\n'));
}
