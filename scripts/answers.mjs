// Writes docs/answers.md, from the answers of the built package:
// `node scripts/answers.mjs >docs/answers.md`.
//
// Parts that differ from run to run are replaced by fixed text: process ids, times, temporary folders.

import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTRACT_NAMES, createBashTool, ToolAbortError, ToolError } from '../dist/index.js';

/** @typedef {import('../dist/index.js').ContractName} Contract */
/**
 * @typedef {object} Situation
 * @property {string} title
 * @property {string | Partial<Record<Contract, object>>} input A command, or the input of each contract
 * that knows the situation.
 * @property {Partial<Record<Contract, object>>} [options]
 * @property {'before' | 'onOutput'} [cancelled] When the call is cancelled.
 * @property {boolean} [isDisposed] The tool is disposed of before the call.
 */

/** @param {object} options */
const everywhere = (options) => Object.fromEntries(CONTRACT_NAMES.map((name) => [name, options]));

const aSecond = {
  workspace: { timeout: { default: 1 } },
  modes: { timeouts: { default: 1 } },
  session: { timeoutMs: 1000 },
  plain: { timeout: 1 },
};
const little = {
  workspace: { tailBytes: 20 },
  modes: { maxOutputBytes: 40, snipBytes: 10 },
  session: { maxCharacters: 20 },
  plain: { maxStdoutBytes: 20 },
};

/** @type {readonly Situation[]} */
const SITUATIONS = [
  { title: 'It ended well', input: 'echo one; echo two >&2' },
  { title: 'It printed nothing', input: 'true' },
  { title: 'It exited with another code than 0', input: 'echo no; exit 3' },
  { title: 'A pipeline ends in a filter', input: "sh -c 'echo 1 failed; exit 3' | tail -n 1" },
  { title: 'A signal ended it', input: 'echo one; kill -SEGV $$' },
  { title: 'Its time was up', input: 'echo early; sleep 30', options: aSecond },
  { title: 'It was cancelled', input: 'echo early; sleep 30', cancelled: 'onOutput' },
  { title: 'It left something running', input: 'sleep 300 >/dev/null 2>&1 & sleep 0.5' },
  { title: 'Its output is longer than is shown', input: 'seq 1 30', options: little },
  { title: 'Not all of its output is text', input: "printf 'a\\377b\\0c\\n'" },
  { title: 'Its output is not text', input: 'head -c 200000 /dev/zero' },
  { title: 'The shell did not find the program', input: 'no-such-program' },
  {
    title: 'It goes on in the background',
    input: {
      workspace: { command: 'sleep 300', async: true },
      modes: { command: 'true', mode: 'background' },
      session: { command: 'sleep 300', run_in_background: true },
    },
    options: { workspace: { async: true } },
  },
  { title: 'The input is wrong', input: everywhere({ command: 5 }) },
  {
    title: 'The directory is not there',
    input: 'true',
    options: everywhere({ cwd: '/srv/gone' }),
  },
  {
    title: 'It could not be started',
    input: 'true',
    options: everywhere({ shell: ['/opt/no/bash'] }),
  },
  { title: 'It was cancelled before it began', input: 'true', cancelled: 'before' },
  { title: 'The tool was disposed of before', input: 'true', isDisposed: true },
];

/**
 * @typedef {object} Answer
 * @property {string} kind
 * @property {string} text
 * @property {unknown} details
 */

/**
 * @param {Situation} situation
 * @param {Contract} contract
 * @param {string} cwd
 * @returns {Promise<Answer | undefined>} Undefined: the contract has no such situation.
 */
async function answerOf({ input, options = {}, cancelled, isDisposed }, contract, cwd) {
  const given = typeof input === 'string' ? { command: input } : input[contract];
  if (given === undefined) return undefined;
  const tool = createBashTool(
    /** @type {import('../dist/index.js').BashToolOptions} */ ({
      ...{ contract, cwd },
      ...options[contract],
    }),
  );
  const controller = new AbortController();
  const abort = () => controller.abort();
  try {
    if (isDisposed) await tool.dispose();
    if (cancelled === 'before') abort();
    const listening = cancelled === 'onOutput' ? { onOutput: abort } : {};
    const answer = await tool.execute(given, { signal: controller.signal, ...listening });
    await forgetOutput(answer.details);
    const text = answer.content.map((part) => part.text).join('');
    const kind = answer.isError ? 'answer, `isError`' : 'answer';
    return { kind, text, details: answer.details };
  } catch (error) {
    if (error instanceof ToolAbortError) {
      return { kind: 'throws `ToolAbortError`', text: error.message, details: error.details };
    }
    if (!(error instanceof ToolError)) throw error;
    const kind = `throws \`ToolError\`, \`${error.kind}\``;
    return { kind, text: error.message, details: error.details };
  } finally {
    await tool.dispose();
  }
}

/**
 * Removes the output of a command that outlives its host, which would stay for days. Waits for the
 * completion line, since its keeper writes there until then.
 *
 * @param {object} details
 */
async function forgetOutput(details) {
  if (!('outputFile' in details) || typeof details.outputFile !== 'string') return;
  const { outputFile } = details;
  while (!readFileSync(outputFile, 'utf8').includes('[background process ')) await sleep(20);
  rmSync(dirname(outputFile), { recursive: true, force: true });
}

/**
 * @param {string} text
 * @param {string} cwd
 */
function withoutChance(text, cwd) {
  return text
    .replaceAll(cwd, '/srv/project')
    .replace(/\/\S*\/forkline(?:-\d+)?\/[^\s"\]<]*/g, '/tmp/forkline/output')
    .replace(/Wall time: \d+\.\d+/g, 'Wall time: 0.12')
    .replace(/"(wallTimeMs|durationMs)":[\d.]+/g, '"$1":120')
    .replace(/task_[\da-f]{8}/g, 'task_5f0c1e2a')
    .replace(/(?<=background: |"pid":|"processGroup":|<pid>|kill -9 -- -)\d+/g, '4711');
}

/** @param {string} text */
function cell(text) {
  if (text === '') return '';
  const mark = text.includes('`') ? '``' : '`';
  return mark + text.replaceAll('|', '\\|').replaceAll('\n', '⏎') + mark;
}

/** @param {unknown} details The receipt is left out, since it has a page of its own. */
function detailsText(details) {
  if (typeof details !== 'object' || details === null) return '';
  const { receipt: _, ...others } = /** @type {Record<string, unknown>} */ (details);
  return JSON.stringify(others);
}

/** @param {string} cwd */
async function pageOf(cwd) {
  const sections = [];
  const kinds = [];
  for (const situation of SITUATIONS) {
    const { title, input } = situation;
    const answers = await Promise.all(
      CONTRACT_NAMES.map(async (name) => answerOf(situation, name, cwd)),
    );
    const rows = CONTRACT_NAMES.map((name, index) => {
      const answer = answers[index];
      if (answer === undefined) return `| \`${name}\` | | | |`;
      const details = withoutChance(detailsText(answer.details), cwd);
      const text = withoutChance(answer.text, cwd);
      return `| \`${name}\` | ${answer.kind} | ${cell(text)} | ${cell(details)} |`;
    });
    const anchor = title.toLowerCase().replaceAll(' ', '-');
    kinds.push(`| [${title}](#${anchor}) | ${answers.map((one) => one?.kind ?? '').join(' | ')} |`);
    const asked = typeof input === 'string' ? `${cell(input)}\n\n` : '';
    sections.push(
      `## ${title}\n\n${asked}| contract | | text | \`details\` |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`,
    );
  }
  return `${INTRODUCTION}\n${kinds.join('\n')}\n\n${sections.join('\n')}`;
}

const INTRODUCTION = `# What each contract answers

Written by \`scripts/answers.mjs\` from real runs; a test checks that it is current. \`⏎\` stands for a newline. Where a
command was started, \`details\` also has its \`receipt\`: see [the API](api.md#receiptofresult). What each contract says of
it all, and its other answers: [\`workspace\`](workspace.md#result), [\`modes\`](modes.md), [\`session\`](session.md#answer),
[\`plain\`](plain.md#answer).

| | ${CONTRACT_NAMES.map((name) => `\`${name}\``).join(' | ')} |
| --- | --- | --- | --- | --- |`;

// `plain` passes it on, and the language of bash's messages depends on it.
process.env.LC_ALL = 'C.UTF-8';
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'answers-')));
try {
  process.stdout.write(await pageOf(folder));
} finally {
  rmSync(folder, { recursive: true });
}
