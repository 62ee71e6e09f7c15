// What must work wherever forkline is installed, asked of an installed package by a program as a user
// would write it, under any runtime, loader and bundler. Prints a line of JSON for each check, and the
// platform first; with FORKLINE_SMOKE_OUTPUT, into that file, where a test runner keeps what is printed.
//
// Neither awaits nor `import.meta` at the top, so that loaders and bundlers can make CommonJS of it.

import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as forkline from 'forkline';
import { toAnthropicTool } from 'forkline/adapters';

const { createBashTool, createOwner, receiptOf, run, spawn } = forkline;
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
  ...ofEachContract('the contract', ['bash', true], answerOf),
  ...ofEachContract('errors of the contract', ['ToolAbortError', 'ToolError'], errorsOf),
  'errors are of the classes that are exported': [
    [
      'LaunchError',
      'InputError',
      'InputError',
      'ArtifactError',
      'TaskLimitError',
      'UnknownTaskError',
    ],
    async () => {
      const artifacts = forkline.createArtifactStore();
      const tasks = new forkline.TaskManager({ maxRunning: 1 });
      const task = await tasks.start('sleep 300');
      const classes = [
        await classThrown(() => run('true', { cwd: join(folder, 'nowhere') })),
        await classThrown(() => run('true', { timeoutMs: -1 })),
        await classThrown(() => createBashTool(/** @type {never} */ ({ contract: 'none' }))),
        await classThrown(() => artifacts.find('7')),
        await classThrown(() => tasks.start('true')),
        await classThrown(() => tasks.find('bg_7')),
      ];
      await task.stop();
      await artifacts.dispose();
      return classes;
    },
  ],
  'a task is waited for, and its manager is of the class that is exported': [
    [true, 'ended', 'done\n'],
    async () => {
      const tasks = new forkline.TaskManager();
      const task = await tasks.start('echo done');
      await task.wait();
      return [tasks instanceof forkline.TaskManager, task.state, (await task.read()).text];
    },
  ],
  'a whole output in an artifact store': [
    [50_000, '49999\n50000\n'],
    async () => {
      const artifacts = forkline.createArtifactStore();
      const tool = createBashTool({ contract: 'workspace', cwd: folder, artifacts });
      await tool.execute({ command: 'seq 50000' });
      const text = new TextDecoder().decode(await artifacts.read('0'));
      await tool.dispose();
      await artifacts.dispose();
      return [text.split('\n').length - 1, text.slice(-12)];
    },
  ],
  'a persistent shell, in which a variable lasts': [
    ['7\n', '/'],
    async () => {
      const tool = createBashTool({ contract: 'session', cwd: folder, persistent: true });
      await tool.execute({ command: 'x=7; cd /' });
      const { structured } = await tool.execute({ command: 'echo $x' });
      await tool.dispose();
      return [structured?.stdout, structured?.cwd];
    },
  ],
  'a sandbox with a host that is allowed, and others that are not': [
    ['200 OK', '403 Forbidden', ['127.0.0.2']],
    async () => {
      const server = createServer((_, response) => response.end('yes'));
      await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
      const sandbox = { network: { allowedDomains: ['127.0.0.1'] } };
      const port = /** @type {import('node:net').AddressInfo} */ (server.address()).port;
      try {
        const line = `${asking(`127.0.0.1:${port}`)}; ${asking(`127.0.0.2:${port}`)}`;
        const result = await run(line, { cwd: folder, sandbox });
        const denied = result.sandbox?.denials.map(({ target }) => target);
        return [...textOf(result.output).trim().split('\n'), denied];
      } finally {
        server.close();
        server.closeAllConnections();
      }
    },
  ],
};

/** What prints how a sandbox's proxy answers who asks for this address. */
const asking = (/** @type {string} */ address) =>
  `(exec 3<>"/dev/tcp/127.0.0.1/\${HTTP_PROXY##*:}" && printf 'GET http://${address}/ HTTP/1.1\\r\\n` +
  `Host: ${address}\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ line <&3 && echo "\${line%$'\\r'}")`;

/** @typedef {'workspace' | 'modes' | 'session' | 'plain'} Contract */

/**
 * @param {string} name
 * @param {unknown} expected
 * @param {(contract: Contract) => unknown} check
 * @returns {Record<string, Check>}
 */
function ofEachContract(name, expected, check) {
  /** @type {Contract[]} */
  const contracts = ['workspace', 'modes', 'session', 'plain'];
  return Object.fromEntries(
    contracts.map((contract) => [`${name} ${contract}`, [expected, () => check(contract)]]),
  );
}

/** @param {Contract} contract */
async function answerOf(contract) {
  const tool = createBashTool({ contract, cwd: folder });
  const { content } = await tool.execute(/** @type {never} */ (inputOf(tool, 'echo hi')));
  await tool.dispose();
  return [toAnthropicTool(tool).name, content[0]?.text.includes('hi')];
}

/** Classes of the errors of an abort, and of a disposed tool. @param {Contract} contract */
async function errorsOf(contract) {
  const tool = createBashTool({ contract, cwd: folder });
  const call = (/** @type {string} */ command, signal = AbortSignal.timeout(300)) =>
    tool.execute(/** @type {never} */ (inputOf(tool, command)), { signal });
  const aborted = await classThrown(() => call('sleep 300'));
  await tool.dispose();
  return [aborted, await classThrown(() => call('true'))];
}

/** @param {import('forkline').BashTool} tool @param {string} command */
function inputOf(tool, command) {
  const known = Object.keys(tool.inputSchema.properties ?? {});
  const given = Object.entries({ command, description: 'Says hi' });
  return Object.fromEntries(given.filter(([name]) => known.includes(name)));
}

/** Whether it is of this class itself: `instanceof` alone is true of another copy's errors too. */
const isOf = (/** @type {unknown} */ error, /** @type {Function} */ type) =>
  error instanceof type && Object.getPrototypeOf(error) === type.prototype;

/** The exported class of which an error is that is thrown or rejected with. @param {() => unknown} call */
async function classThrown(call) {
  try {
    await call();
    return 'nothing thrown';
  } catch (error) {
    const found = Object.entries(forkline).find(
      ([name, type]) => /Error$/.test(name) && typeof type === 'function' && isOf(error, type),
    );
    return found?.[0] ?? `not of an exported class: ${error}`;
  }
}

/** @param {object} line */
function say(line) {
  const file = process.env.FORKLINE_SMOKE_OUTPUT;
  if (file === undefined) console.log(JSON.stringify(line));
  else appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** @param {string} name @param {Check} check */
async function judge(name, [expected, check]) {
  /** @type {unknown} */
  let found;
  try {
    found = await check();
  } catch (error) {
    // Where the kernel has no sandbox, or a container keeps it from us.
    if (error instanceof forkline.LaunchError && error.step === 'sandbox') {
      return say({ name, ok: true, skipped: error.message });
    }
    found = String(error instanceof Error ? (error.stack ?? error) : error);
  }
  const ok = JSON.stringify(found) === JSON.stringify(expected);
  say(ok ? { name, ok } : { name, ok, found, expected });
}

async function main() {
  say({ runtime: `${process.platform} ${process.arch}`, versions: process.versions });
  for (const [name, check] of Object.entries(CHECKS)) await judge(name, check);
  rmSync(folder, { recursive: true });
}

/** For a test runner, which ends a program that it does not wait for. */
export const finished = main();
