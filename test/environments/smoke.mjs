// What must work wherever forkline is installed, asked of an installed package by a program as a user
// would write it, under any runtime. Prints a line of JSON for each check, and the platform first.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBashTool, createOwner, receiptOf, run, spawn } from 'forkline';
import { toAnthropicTool } from 'forkline/adapters';

const folder = mkdtempSync(join(tmpdir(), 'forkline-smoke-'));
const isAlive = (/** @type {number | undefined} */ pid) => existsSync(`/proc/${pid}/stat`);

/** @param {import('forkline').Capture} capture */
const textOf = (capture) => (capture.kind === 'complete' ? capture.text : capture.head);

/** @typedef {readonly [expected: unknown, check: () => unknown]} Check */

/** @type {Record<string, Check>} */
const CHECKS = {
  'the output of a command': ['hi\n', async () => textOf((await run('echo hi')).output)],
  'its exit code': [{ kind: 'exited', exitCode: 3 }, async () => (await run('exit 3')).outcome],
  'its signal': [
    { kind: 'signaled', signal: 'SIGKILL' },
    async () => (await run('kill -KILL $$')).outcome,
  ],
  'stdin, and separate streams': [
    ['yes', 'no\n'],
    async () => {
      const result = await run('cat; echo no >&2', { input: 'yes', streams: 'separate' });
      return [textOf(result.stdout), textOf(result.stderr)];
    },
  ],
  'head, tail and exact counts of 10 MB': [
    ['cut', { bytes: 10_000_000, characters: 10_000_000, lines: 5_000_000 }],
    async () => {
      const { output } = await run('yes | head -c 10000000', { headBytes: 100, tailBytes: 100 });
      return [output.kind, output.total];
    },
  ],
  'a spill file': [
    588_895,
    async () => {
      const path = join(folder, 'spill');
      await run('seq 100000', { spill: path, tailBytes: 10 });
      return readFileSync(path, 'utf8').length;
    },
  ],
  'a timeout, with a process that has left its group': [
    ['timedOut', false],
    async () => {
      const line = 'setsid sleep 300 & echo $!; wait';
      const { outcome, output } = await run(line, { timeoutMs: 300, graceMs: 500 });
      return [outcome.kind, isAlive(Number(textOf(output)))];
    },
  ],
  'a cancelled command': [
    'cancelled',
    async () => (await run('sleep 300', { signal: AbortSignal.timeout(200) })).outcome.kind,
  ],
  'what it leaves running is named, and ended with its owner': [
    [true, false],
    async () => {
      const owner = createOwner();
      const { background } = await run('sleep 300 & echo', { owner });
      const [left] = background;
      const before = isAlive(left?.pid);
      await owner.dispose();
      return [before, isAlive(left?.pid)];
    },
  ],
  'a program that does not exist': [
    { kind: 'exited', exitCode: 127 },
    async () => (await run(`'${folder}/nowhere/x'`)).outcome,
  ],
  'a directory that does not exist': [
    ['LaunchError', 'ENOENT', 'directory'],
    () =>
      run('true', { cwd: join(folder, 'nowhere') }).catch(({ name, code, step }) => [
        name,
        code,
        step,
      ]),
  ],
  'a live command, written to and read': [
    'got this\n',
    async () => {
      const child = await spawn('read line; echo "got $line"', { stdin: 'pipe' });
      await child.write('this\n');
      let text = '';
      for await (const chunk of child) text += chunk.text;
      return text;
    },
  ],
  'a command that is ended by kill()': [
    'cancelled',
    async () => {
      const child = await spawn('sleep 300');
      await child.kill({ graceMs: 500 });
      return (await child.result).outcome.kind;
    },
  ],
  'a terminal': [
    'yes',
    async () => textOf((await run('test -t 1 && echo yes', { pty: true })).output).trim(),
  ],
  'where the shell was at its end': [
    '/',
    async () => (await run('cd / && exit 1', { followDirectory: true })).directory,
  ],
  'whose exit code a pipeline has': [
    'tail',
    async () => (await receiptOf(await run('make | tail -1'))).exitCodeOf?.program,
  ],
  'a hundred at once': [
    true,
    async () => {
      const lines = Array.from({ length: 100 }, (_, index) => `echo ${index}`);
      const results = await Promise.all(lines.map((line) => run(line)));
      return results.every(({ output }, index) => textOf(output) === `${index}\n`);
    },
  ],
  ...Object.fromEntries(
    /** @type {const} */ (['workspace', 'modes', 'session', 'plain']).map((contract) => [
      `the contract ${contract}`,
      [['bash', true], () => answerOf(contract)],
    ]),
  ),
};

/** @param {'workspace' | 'modes' | 'session' | 'plain'} contract */
async function answerOf(contract) {
  const tool = createBashTool({ contract, cwd: folder });
  const known = Object.keys(tool.inputSchema.properties ?? {});
  const given = Object.entries({ command: 'echo hi', description: 'Says hi' });
  const input = Object.fromEntries(given.filter(([name]) => known.includes(name)));
  const { content } = await tool.execute(/** @type {never} */ (input));
  await tool.dispose();
  return [toAnthropicTool(tool).name, content[0]?.text.includes('hi')];
}

const say = (/** @type {object} */ line) => console.log(JSON.stringify(line));

say({ runtime: `${process.platform} ${process.arch}`, versions: process.versions });
for (const [name, [expected, check]] of Object.entries(CHECKS)) {
  /** @type {unknown} */
  let found;
  try {
    found = await check();
  } catch (error) {
    found = String(error instanceof Error ? (error.stack ?? error) : error);
  }
  const ok = JSON.stringify(found) === JSON.stringify(expected);
  say(ok ? { name, ok } : { name, ok, found, expected });
}
rmSync(folder, { recursive: true });
