import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { quote } from '../support/commands.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';
import { data, pwd, startTask, useSessionTools } from '../support/session.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);
afterEach(() => {
  vi.unstubAllEnvs();
});

test('E1: set -e ends the command at the first failure', async () => {
  const answer = await data(newSession(), 'set -e\nfalse\necho survived');
  expect(answer).toMatchObject({ exit_code: 1, stdout: '', stderr: '' });
});

test('E2: a comment at the end hides no text after it', async () => {
  const tool = newSession();
  await data(tool, 'cd /usr # go');
  expect(await pwd(tool)).toBe('/usr\n');
});

test('E3: the exit code is the command’s, and the directory follows', async () => {
  const tool = newSession();
  expect(await data(tool, 'cd /usr && exit 42')).toMatchObject({ exit_code: 42 });
  expect(await pwd(tool)).toBe('/usr\n');
});

test('E4: a here-document at the very end is read exactly', async () => {
  const tool = newSession();
  expect(await data(tool, "cat > f <<'X'\nhello\nX")).toMatchObject({ exit_code: 0 });
  expect(readFileSync(folder.file('f'), 'utf8')).toBe('hello\n');
});

test.each(['rg "a ` b"', 'echo "abc'])(
  'E5: %s fails at once, the next call works',
  async (text) => {
    const tool = newSession();
    const answer = await data(tool, text);
    expect(answer).toMatchObject({ exit_code: 2, stdout: '' });
    expect(answer.stderr).toContain('unexpected EOF');
    expect(await data(tool, 'echo fine')).toMatchObject({ stdout: 'fine\n', exit_code: 0 });
  },
);

test('E6: a removed directory is reported, and the session goes on', async () => {
  const tool = newSession();
  expect(await data(tool, 'mkdir d; cd d; rmdir ../d')).toMatchObject({ exit_code: 0 });
  const failure = await failureOf(data(tool, 'echo hello'));
  expect(String(failure)).toContain(`Working directory does not exist: ${folder.file('d')}`);
  expect(await data(tool, 'echo hello')).toMatchObject({ stdout: 'hello\n', exit_code: 0 });
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

test.each([
  ['false', 1],
  ['false || exit 7', 7],
  ['exec true', 0],
  ['exec false', 1],
  ['return 3', 2],
])('E7: %s ends with %i, as in plain bash', async (command, exitCode) => {
  expect(await data(newSession(), command)).toMatchObject({ exit_code: exitCode });
});

test('E8: a command that ends in & is no syntax error', async () => {
  expect(await data(newSession(), 'sleep 1 &')).toMatchObject({ exit_code: 0, stderr: '' });
});

test('E9: BASH_ENV and functions of the host change no cd', async () => {
  const file = folder.file('hijack');
  writeFileSync(file, "shopt -s expand_aliases; alias cd='echo HIJACK'\n");
  vi.stubEnv('BASH_ENV', file);
  vi.stubEnv('BASH_FUNC_cd%%', '() { echo HIJACK; }');
  const tool = newSession();
  expect(await data(tool, 'cd /usr')).toMatchObject({ stdout: '', cwd: '/usr' });
});

test('E10: a trap of the command’s own runs once, and the directory follows', async () => {
  const tool = newSession();
  const answer = await data(tool, "trap 'echo bye' EXIT; cd /usr");
  expect(answer).toMatchObject({ stdout: 'bye\n', exit_code: 0 });
  expect(await pwd(tool)).toBe('/usr\n');
});

test('E11: of two calls at once, each starts where the session was, and the one that moved decides', async () => {
  const tool = newSession();
  const [slow, fast] = await Promise.all([data(tool, 'sleep .5; pwd'), data(tool, 'cd /usr; pwd')]);
  expect(slow.stdout).toBe(`${folder.path}\n`);
  expect(fast.stdout).toBe('/usr\n');
  expect(await pwd(tool)).toBe('/usr\n');
});

test('E11: of two calls at once that move, the last to end decides', async () => {
  const tool = newSession();
  await Promise.all([data(tool, 'cd /tmp; sleep .5'), data(tool, 'cd /usr')]);
  expect(await pwd(tool)).toBe('/tmp\n');
});

test.each(['__BORIS_CWD_a3f7c210__', '%s', '\\0', '$PWD', '\u0001'])(
  'E13: %j is printed unchanged',
  async (text) => {
    const answer = await data(newSession(), `echo -E ${quote(text)}; echo /usr`);
    expect(answer).toMatchObject({ stdout: `${text}\n/usr\n`, cwd: folder.path });
  },
);

test('E14: a text that begins with a dash, and one of only a comment', async () => {
  const tool = newSession();
  const dash = await data(tool, '-e');
  expect(dash).toMatchObject({ exit_code: 127, stderr: 'bash: line 1: -e: command not found\n' });
  expect(await data(tool, '# only a comment')).toMatchObject({ exit_code: 0, stdout: '' });
  expect(await failureOf(data(tool, '\n\n'))).toMatchObject({ kind: 'input' });
});

test('A1: a child that holds the pipe delays nothing, and is listed', async () => {
  const begun = performance.now();
  const answer = await newSession().execute({ command: 'sleep 300 & echo done' });
  expect(performance.now() - begun).toBeLessThan(10_000);
  expect(answer.structured).toMatchObject({ stdout: 'done\n', exit_code: 0 });
  expect(textOf(answer)).toContain('Still running in the background: ');
});

test('B6: a shell that kills itself is no success', async () => {
  const answer = await newSession().execute({ command: 'echo before; kill -9 $$' });
  expect(answer.structured).toMatchObject({
    stdout: 'before\n',
    exit_code: null,
    signal: 'SIGKILL',
  });
  expect(textOf(answer)).toBe('before\n\nKilled by SIGKILL.');
});

test('C9: the last output on stderr is visible beside any amount of stdout', async () => {
  const answer = await data(newSession(), 'seq 1 100000; echo FATAL >&2; exit 1');
  expect(answer).toMatchObject({ stderr: 'FATAL\n', exit_code: 1, stdout_characters: 588_895 });
});

test.each([131_072, 2_000_000])('G1: a command of %i bytes runs, and is followed', async (size) => {
  const tool = newSession();
  const command = `cd /usr; : ${'x'.repeat(size - 20)}; exit 3`;
  expect(await data(tool, command)).toMatchObject({ exit_code: 3, cwd: '/usr' });
});

test.each([2 ** 31, 99_999_999_000])(
  'G3: a timeout of %i ms kills nothing at once',
  async (timeout) => {
    const answer = await data(newSession(), 'echo fine', { timeout });
    expect(answer).toMatchObject({ stdout: 'fine\n', timed_out: false });
  },
);

test('I4: a finished task can be read late, but not twice', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'echo done; exit 3');
  await sleep(1500);
  const ask = () => tool.taskOutput.execute({ task_id: id });
  expect((await ask()).structured).toMatchObject({ stdout: 'done\n', exit_code: 3 });
  expect(await ask()).toMatchObject({ isError: true });
});

test('J1: secrets of the host do not reach commands', async () => {
  vi.stubEnv('FOO_API_KEY', 'secret');
  expect(await data(newSession(), 'env | grep -c FOO')).toMatchObject({ stdout: '0\n' });
  const all = newSession({ inheritEnv: 'all' });
  expect(await data(all, 'echo $FOO_API_KEY')).toMatchObject({ stdout: 'secret\n' });
});
