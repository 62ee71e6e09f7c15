import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createBashTool, ToolError, type WorkspaceOptions } from '../../../src/index.js';
import { testOfThisProcess } from '../../support/far.js';
import { eventually, isGone } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { answerTo, textOf } from '../../support/tool.js';

let workspace = '';
beforeAll(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'forkline-workspace-')));
  mkdirSync(join(workspace, 'sub dir'));
  symlinkSync('sub dir', join(workspace, 'link'));
  writeFileSync(join(workspace, 'file'), '');
});
afterAll(() => {
  rmSync(workspace, { recursive: true });
});

const disposals: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(disposals.splice(0).map((dispose) => dispose()));
});

function makeTool(options: Partial<WorkspaceOptions> = {}) {
  const tool = createBashTool({ contract: 'workspace', cwd: workspace, ...options });
  disposals.push(() => tool.dispose());
  return tool;
}

test('the answer is the output, a blank line and the wall time', async () => {
  const tool = makeTool();
  expect(await answerTo(tool, { command: 'echo hi' })).toBe('hi\n\nWall time: T seconds');
  expect(await answerTo(tool, { command: 'true' })).toBe('(no output)\n\nWall time: T seconds');
});

test('success has neither an exit code nor an error flag', async () => {
  const result = await makeTool().execute({ command: 'true' });
  expect(result.details).toEqual({
    timeoutSeconds: 300,
    wallTimeMs: expect.any(Number),
    receipt: expect.any(Object),
  });
  expect(result).not.toHaveProperty('isError');
});

test('a failing command is a result that ends in its exit code', async () => {
  const result = await makeTool().execute({ command: 'echo no; exit 3' });
  expect(textOf(result)).toMatch(
    /^no\n\nWall time: \d+\.\d\d seconds\n\nCommand exited with code 3$/,
  );
  expect(result.isError).toBe(true);
  expect(result.details.exitCode).toBe(3);
});

test('stdout and stderr come together, in order', async () => {
  const command = 'for i in 1 2 3; do echo o$i; echo e$i >&2; done';
  expect(await answerTo(makeTool(), { command })).toContain('o1\ne1\no2\ne2\no3\ne3\n');
});

test('long output is cut to its last whole lines, with their numbers', async () => {
  const result = await makeTool().execute({ command: 'seq 1 100000; echo FATAL >&2; exit 1' });
  const [output = '', notices = ''] = textOf(result).split('\n\n');
  expect(output.endsWith('\n100000\nFATAL')).toBe(true);
  const first = Number(output.slice(0, output.indexOf('\n')));
  expect(notices).toContain(
    `[Showing lines ${first}-100001 of 100001 (50.0KB limit). ` +
      `Read artifact://0 for full output: sed -n ${first - 200},${first - 1}p artifact://0]`,
  );
  expect(result.details.meta?.truncation).toMatchObject({
    direction: 'tail',
    totalLines: 100_001,
    totalBytes: 588_901,
    shownRange: { start: first, end: 100_001 },
  });
});

test('output within the limit is not cut', async () => {
  const command = `for i in $(seq 1 200); do printf 'Line %03d: %-200s\\n' $i ''; done`;
  const result = await makeTool().execute({ command });
  expect(result.details).not.toHaveProperty('meta');
  expect(textOf(result)).toContain('Line 001:');
});

test('one long line says how long it is', async () => {
  const command = "head -c 120000 /dev/zero | tr '\\0' x";
  const text = await answerTo(makeTool(), { command });
  expect(text).toContain(
    '[Showing last 50.0KB of line 1 (line is 117.2KB). Read artifact://0 for full output: head -c 40000 artifact://0]',
  );
});

test('the head is kept when asked for', async () => {
  const tool = makeTool({ headBytes: 20, tailBytes: 20 });
  const text = await answerTo(tool, { command: 'seq 1 1000' });
  expect(text).toContain('\n8\n9\n[… 986 lines elided (3.8KB) …]\n996\n997\n998\n999\n1000\n');
  expect(text).toContain(
    '[Showing lines 1-9 and 996-1000 of 1000 (20B + 20B limit). Read artifact://0 for full output: sed -n 796,995p artifact://0]',
  );
});

test('a timeout out of range is clamped, and it is said', async () => {
  const result = await makeTool().execute({ command: 'echo hi', timeout: 7200 });
  expect(textOf(result)).toMatch(
    /seconds\nTimeout clamped to 3600s \(requested 7200s; allowed range 1-3600s\)\.$/,
  );
  expect(result.details).toMatchObject({ timeoutSeconds: 3600, requestedTimeoutSeconds: 7200 });
});

test('a command whose time is up is an error with its output so far', async () => {
  const call = makeTool().execute({ command: 'echo before; sleep 30', timeout: 1 });
  const error = await failureOf(call);
  expect(error).toMatchObject({
    name: 'ToolError',
    kind: 'timedOut',
    message:
      'before\n\nCommand timed out after 1 second\nFor more time, pass a larger `timeout` (at most 3600).',
    details: { timeoutSeconds: 1 },
  });
});

test('B12: a command that a signal kills has no exit code, which is said in one sentence', async () => {
  const error = await failureOf(makeTool().execute({ command: 'echo before; kill -9 $$' }));
  expect(error).toMatchObject({
    kind: 'noStatus',
    message: expect.stringMatching(
      /^before\n\nWall time: \d\.\d\d seconds\n\nCommand failed: missing exit status \(killed by SIGKILL\)$/,
    ),
  });
});

test('processes that still run are named, with a working command to stop them', async () => {
  const tool = makeTool();
  const result = await tool.execute({ command: 'sleep 300 & echo started' });
  const [, pid, group] =
    /Still running in the background: (\d+) \(sleep 300\)\. To stop: (kill -9 -- -\d+)/.exec(
      textOf(result),
    ) ?? [];
  expect(result.details.background).toMatchObject([{ pid: Number(pid), command: 'sleep 300' }]);
  await tool.execute({ command: `${group}` });
  await eventually(() => expect(isGone(Number(pid))).toBe(true));
});

test('disposing of the tool ends what still runs', async () => {
  const tool = makeTool();
  const { details } = await tool.execute({ command: 'sleep 300 & echo started' });
  await tool.dispose();
  for (const { pid } of details.background ?? []) {
    expect(isGone(pid)).toBe(true);
  }
  expect(await failureOf(tool.execute({ command: 'true' }))).toMatchObject({ kind: 'disposed' });
});

test.each([
  ['cwd', { command: 'pwd', cwd: 'sub dir' }, 'sub dir'],
  ['an absolute cwd', { command: 'pwd', cwd: '/' }, undefined],
  ['a leading cd', { command: 'cd "sub dir" && pwd' }, 'sub dir'],
  ['a symlink', { command: 'cd link && pwd' }, 'link'],
  ['a cd left to bash', { command: 'cd "sub dir"; pwd' }, 'sub dir'],
])('a command runs in %s', async (_, input, directory) => {
  const path = directory === undefined ? '/' : join(workspace, directory);
  expect(await answerTo(makeTool(), input)).toBe(`${path}\n\nWall time: T seconds`);
});

test('a leading cd is left to bash when there is a cwd', async () => {
  const input = { command: 'cd .. && pwd', cwd: 'sub dir' };
  expect(await answerTo(makeTool(), input)).toContain(`${workspace}\n`);
});

test.each([
  [{ command: 'pwd', cwd: 'none' }, 'Working directory does not exist: $/none'],
  [{ command: 'cd none && pwd' }, 'Working directory does not exist: $/none'],
  [{ command: 'pwd', cwd: 'file' }, 'Working directory is not a directory: $/file'],
])('B16: %j is told as a missing directory is by all contracts', async (input, message) => {
  const error = await failureOf(makeTool().execute(input));
  expect(error).toMatchObject({ kind: 'directory', message: message.replace('$', workspace) });
});

test('B22: a directory of any length comes back shortened', async () => {
  const error = await failureOf(makeTool().execute({ command: 'pwd', cwd: 'x'.repeat(60_000) }));
  expect(String(error).length).toBeLessThan(200);
});

test.each([
  [{ command: 'pwd', env: { 'A-B': 'x' } }, 'Invalid bash env name: A-B'],
  [{ command: 'pwd', env: { A: 'x\0' } }, 'env.A: expected a string without NUL'],
  [{ command: 'pwd', timeout: '5' }, 'timeout: expected a number, got "5"'],
  [{ command: 'pwd', tty: true }, 'tty: not known here, did you mean pty?'],
  [{ command: ' \n' }, 'command: expected a shell command, got " \\n"'],
  [{ command: 'a\0b' }, 'command: expected text without NUL'],
  [{}, 'command: expected a string, got nothing'],
])('%j is an input error', async (input, message) => {
  const error = await failureOf(makeTool().execute(input));
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({
    kind: 'input',
    message: expect.stringContaining(message.replace('$', workspace)),
  });
});

test('a shell that is not there is a launch error, told apart from a failing command', async () => {
  const tool = makeTool({ shell: ['/no/such/shell'] });
  const error = await failureOf(tool.execute({ command: 'true' }));
  expect(error).toMatchObject({
    kind: 'launch',
    message: expect.stringMatching(/^Command could not be started: .*\/no\/such\/shell/),
  });
});

testOfThisProcess(
  'the environment is non-interactive, without secrets, and the call has the last word',
  async () => {
    vi.stubEnv('FOO_API_KEY', 'secret');
    // What runs these tests may have said so itself, and `all` inherits it.
    vi.stubEnv('CI', undefined);
    try {
      const command = 'echo "$PAGER|$TERM|$CI|$FOO_API_KEY|$A|$EXTRA"';
      const tool = makeTool({ env: { EXTRA: '1', A: 'under' } });
      const env = { A: '$HOME "x"', TERM: 'vt100' };
      expect(await answerTo(tool, { command, env })).toContain('cat|vt100|true||$HOME "x"|1\n');
      const open = makeTool({ inheritEnv: 'all', ci: false });
      expect(await answerTo(open, { command })).toContain('cat|dumb||secret||\n');
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

test('reading input ends at once, and there is no terminal', async () => {
  const command = 'read x; echo rc=$?; cat; (: </dev/tty) 2>/dev/null || echo none';
  expect(await answerTo(makeTool(), { command })).toContain('rc=1\nnone\n');
});

test('the description and the schema say what applies', () => {
  const tool = makeTool({ timeout: { default: 10, max: 20 }, tailBytes: 2048 });
  expect(tool.name).toBe('bash');
  expect(tool.description).toContain(workspace);
  expect(tool.description).toContain('A command may take 10 seconds, or `timeout` (at most 20)');
  expect(tool.description).toContain('the last 2.0KB');
  expect(tool.strict).toBe(true);
  expect(tool.concurrency).toBe('exclusive');
  expect(tool.inputSchema).toMatchObject({ required: ['command'], additionalProperties: false });
});

test.each([
  [{ cwd: '' }, 'cwd: expected a path: a string that is not empty and has no NUL, got ""'],
  [{ tailBytes: 0 }, 'tailBytes: expected a whole number from 1, got 0'],
  [{ headBytes: 1.5 }, 'headBytes: expected a whole number of bytes from 0 to 268435456, got 1.5'],
  [{ graceMs: -1 }, 'graceMs: expected a number of milliseconds of 0 or more, got -1'],
  [{ timeout: { min: 5, max: 4 } }, 'timeout.max: expected a number from 5, got 4'],
])('%j is no valid option', (options, message) => {
  expect(() => makeTool(options)).toThrow(message);
});

test('a contract that is not known is an error', () => {
  const options = { contract: 'posix' as 'workspace', cwd: '/' };
  expect(() => createBashTool(options)).toThrow(
    /^contract: expected .*"workspace".*, got "posix"$/,
  );
});

test('B8: the command that a cut answer names shows what is missing', async () => {
  const tool = makeTool();
  expect(tool.description).toContain('sed -n 200,260p artifact://N');
  const text = await answerTo(tool, { command: 'seq 1 100000' });
  const [, command = ''] = /for full output: (.+)\]/.exec(text) ?? [];
  const first = Number(text.slice(0, text.indexOf('\n')));
  const rest = await answerTo(tool, { command });
  expect(rest).toMatch(new RegExp(`^${first - 200}\n[^]*\n${first - 1}\n\nWall time`));
});

test('B4: bytes that are not text are cut by the room that they take, and kept', async () => {
  const tool = makeTool();
  const write = "import sys; sys.stdout.buffer.write(b'text\\xe9' * 10240)";
  const text = await answerTo(tool, { command: `python3 -c "${write}"` });
  expect(Buffer.byteLength(text)).toBeLessThan(52_000);
  expect(text).toContain('[Showing last 35.7KB of line 1 (line is 50.0KB). Read artifact://0 for');
});
