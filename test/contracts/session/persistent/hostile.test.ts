import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { data, useSessionTools } from '../../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);
const newTool = (options: Parameters<typeof newSession>[0] = {}) =>
  newSession({ persistent: true, graceMs: 200, ...options });

describe('a shell goes on, and tells the truth, after', () => {
  test.each([
    'exec >&-',
    'exec 2>&-',
    'exec 0<&-',
    'exec >&- 2>&- 0<&-',
    'exec >/dev/null 2>&1',
    'exec >/dev/full',
    'for i in {3..255}; do eval "exec $i>&-"; done',
    'for i in {3..60}; do eval "exec $i>/dev/null"; done',
    'for i in {3..60}; do eval "exec $i</dev/zero"; done',
    'eval() { echo mine; }',
    'printf() { echo mine; }; echo() { :; }; unset -f echo',
    'exec() { echo mine; }; unset() { echo mine; }; cd() { echo mine; }; exit() { :; }',
    'for() { :; } 2>/dev/null; return() { echo mine; }',
    "shopt -s expand_aliases; alias eval='echo mine' builtin='echo mine' printf=false exec=false",
    'readonly IFS; IFS=: 2>/dev/null',
    'IFS=0123456789',
    "PS4='+ mine '; set -x",
    'set -v',
    'set -xv',
    "trap 'echo mine' DEBUG",
    "set -T; trap 'echo mine' DEBUG RETURN",
    "set -E; trap 'echo mine' ERR",
    'set -C',
    'set -f',
    'set -u',
    'set -e',
    'set -k',
    'set -B +h',
    'set -m',
    'set -P; set -o posix',
    'shopt -s xpg_echo',
    'shopt -s extdebug',
    'shopt -s nullglob failglob dotglob',
    'set -o history -o histexpand',
    "trap '' TERM HUP INT PIPE",
    'umask 777',
    'export LC_ALL=C',
    'export LC_ALL=nowhere 2>/dev/null',
    'unset PATH HOME PWD OLDPWD IFS BASH LINENO SHELLOPTS 2>/dev/null; :',
    'LINENO=500',
    'unset LINENO; LINENO=x',
    'hash -p /bin/false builtin',
    'enable -n printf',
    'wait; jobs; disown -a',
    'BASH_ENV=/nowhere; export BASH_ENV; ENV=/nowhere',
    'set -- "$@" a b',
    '_=x',
    '__forkline_open() { :; }',
    'command() { echo mine; }; exec() { echo mine; }',
    'command() { :; }; set -o posix',
    'command() { :; }; (exit 3)',
    'enable -n read printf exit trap return',
    'enable -n echo',
    'enable -n echo; set -e',
    "set -T; trap 'return 5' RETURN",
    "set -T; trap 'return 5' RETURN; (exit 3)",
    "set -T; trap 'echo mine' DEBUG RETURN; (exit 3)",
    "set -x; PS4='+ mine $(echo mine) '; (exit 3)",
    "shopt -s extdebug; trap 'echo mine' DEBUG; (exit 3)",
    "trap 'return 3' DEBUG 2>/dev/null",
    "trap 'false' ERR; set -E; (exit 3)",
    'readonly PATH HOME IFS; :',
    'IFS=$(printf "\\n\\t |>"); (exit 3)',
    'POSIXLY_CORRECT=1',
    'TMOUT=1; export TMOUT; sleep 1.5',
    "PROMPT_COMMAND='echo mine'; PS1='mine'",
    'command_not_found_handle() { echo mine; return 3; }',
    'shopt -s failglob nullglob expand_aliases lastpipe inherit_errexit execfail; :',
    'set -a -b -h -p -u -C -E -T; :',
  ])('%s', async (command) => {
    const tool = newTool({ timeoutMs: 4000 });
    await tool.execute({ command: 'kept=1' });
    const first = await data(tool, command);
    expect(first.timed_out).toBe(false);
    expect(first.exit_code).toEqual(expect.any(Number));
    const second = await data(tool, '/bin/echo a; /bin/echo b >&2; (exit 5) || true; /bin/echo c');
    expect(second.stdout).toMatch(/^(mine\n)*a\n(mine\n)*c\n(mine\n)*$/);
    expect(String(second.stderr)).toMatch(/^b$/m);
    expect(second.stderr).not.toMatch(/__forkline|LINENO|builtin/);
    expect(second).toMatchObject({ exit_code: 0, timed_out: false });
    expect(second.notices).toBeUndefined();
    expect((await data(tool, '/bin/echo "k$kept"')).stdout).toMatch(/^(mine\n)*k1\n(mine\n)*$/);
  });
});

describe('a shell that passes over words of ours', () => {
  const why = /^The shell was ended, since it runs no more commands, as after `set -n` or /;

  test.each([
    'set -n',
    'shopt -s extdebug; trap false DEBUG',
    'builtin() { :; }',
    'builtin() { return 3; }',
    'enable -n builtin echo',
    'enable -n eval',
    'enable -n eval exec exit',
    'readonly LINENO',
  ])(
    'is found out in a second, and told of; the next call has a new one (U12): %s',
    async (text) => {
      const tool = newTool({ timeoutMs: 30_000 });
      const first = await data(tool, `cd /usr; echo one; ${text}`);
      expect(first).toMatchObject({ stdout: 'one\n', timed_out: false });
      const told = first.notices === undefined ? await data(tool, 'echo two >&2') : first;
      expect(told).toMatchObject({ exit_code: null, timed_out: false, cwd: '/usr', stderr: '' });
      expect(String(told.notices)).toMatch(why);
      const isKnown = told === first;
      expect(/Whether the command has run is not known/.test(String(told.notices))).toBe(!isKnown);
      expect(await data(tool, 'pwd')).toMatchObject({ stdout: '/usr\n', exit_code: 0 });
    },
  );
});

test('a read-only `_`, of which bash itself complains at each command, ends the shell, which is told', async () => {
  const tool = newTool({ timeoutMs: 30_000 });
  const told = await data(tool, 'cd /usr; echo one; readonly _');
  expect(told).toMatchObject({ stdout: 'one\n', exit_code: null, timed_out: false, cwd: '/usr' });
  expect(told.stderr).toMatch(/^(bash: (line \d+: )?_: readonly variable\n)+$/);
  expect(String(told.notices)).toMatch(/^The shell was ended, .* a read-only `LINENO` or `_`;/);
  expect(await data(tool, 'pwd')).toMatchObject({ stdout: '/usr\n', exit_code: 0 });
});

describe('a shell that cannot go on', () => {
  test.each([
    ['kill -STOP $$', 'SIGTERM|SIGKILL'],
    ["trap '' TERM; sleep 30", 'SIGKILL'],
    ["trap 'echo no' TERM; while :; do sleep .1; done", 'SIGKILL'],
  ])('is ended by the timeout of its call, or of the next one: %s', async (command, signal) => {
    const tool = newTool();
    const first = await data(tool, `cd /usr; ${command}`, { timeout: 500 });
    const ended = first.timed_out ? first : await data(tool, 'echo a', { timeout: 500 });
    expect(ended).toMatchObject({ timed_out: true, exit_code: null, cwd: '/usr' });
    expect(ended.signal ?? '').toMatch(new RegExp(`^(${signal}|SIGTERM)$`));
    expect(String(ended.notices)).toMatch(/^The shell was ended; the next command starts a new/);
    expect(await data(tool, 'echo b')).toMatchObject({ stdout: 'b\n', exit_code: 0 });
  });

  test.each(['set -r', 'ulimit -n 3', 'set -t'])(
    'is told of, and the one after it works: %s',
    async (command) => {
      const tool = newTool();
      await data(tool, command, { timeout: 1000 });
      await data(tool, 'echo a', { timeout: 1000 });
      await data(tool, 'echo a', { timeout: 1000 });
      const { stdout } = await data(tool, 'echo b', { restart: true });
      expect(stdout).toBe('b\n');
    },
  );

  test('and does not begin with a command says so', async () => {
    const tool = newTool();
    await tool.execute({ command: 'x=1; ulimit -n 5' });
    await expect(tool.execute({ command: 'echo a' })).rejects.toThrow(
      'Command could not be started: the shell could not open the pipes for its output, as when it ' +
        'may have no more descriptors, or after `enable -n exec`. The shell has ended; the next command starts a new one in',
    );
    expect(await data(tool, 'echo a')).toMatchObject({ stdout: 'a\n' });
  });

  test('for rules that it has been given is taken for one that has ended', async () => {
    const tool = newTool();
    const { notices } = await data(tool, 'cd /usr; set -r');
    expect(String(notices)).toMatch(/^The shell has ended; the next command starts a new one in/);
    expect(await data(tool, 'pwd; echo x$x')).toMatchObject({ stdout: '/usr\nx\n' });
    expect((await data(tool, 'cd /; set -t')).notices).toBeUndefined();
    const next = await data(tool, 'pwd');
    expect(next).toMatchObject({ stdout: '/\n' });
    expect(String(next.notices)).toMatch(/^The shell had ended since the last command/);
  });

  test('says why it did not get as far as its first command', async () => {
    const file = folder.file('startup');
    const tool = newTool({ env: { BASH_ENV: file } });
    expect(await data(tool, 'echo hi')).toMatchObject({ stdout: 'hi\n' });
    const other = newTool({ shell: ['/bin/false'] });
    await expect(other.execute({ command: 'echo hi' })).rejects.toThrow(
      'Command could not be started: the shell has ended before its first command (exit code 1)',
    );
  });
});

test('a start-up file of the caller is read once, and by the shell itself', async () => {
  const file = folder.file('start-up');
  const tool = newTool({ env: { BASH_ENV: file } });
  await newSession().execute({ command: `echo 'let n+=1; export n; set -o pipefail' >${file}` });
  expect(await data(tool, 'echo $n $BASH_ENV; false | true')).toMatchObject({
    stdout: `1 ${file}\n`,
    exit_code: 1,
  });
});

test('a command that clears the temporary directory harms neither its call nor the next', async () => {
  const tool = newTool();
  await tool.execute({ command: 'x=1' });
  const home = join(tmpdir(), `forkline-${process.getuid?.()}`);
  const command = `rm -rf ${home}/shell-$PPID-* ${home}/shell-${process.pid}-*; echo $x`;
  expect(await data(tool, command)).toMatchObject({ stdout: '1\n', exit_code: 0 });
  const next = await data(tool, 'echo $x; echo b >&2');
  expect(next).toMatchObject({ stdout: '1\n', stderr: 'b\n', exit_code: 0 });
  expect(next.notices).toBeUndefined();
});

test('gigabytes are read as fast as they come, and memory does not grow', async () => {
  const tool = newTool();
  await tool.execute({ command: 'true' });
  const before = process.memoryUsage().rss;
  const answer = await data(tool, 'head -c 400000000 /dev/zero | tr "\\0" "x"; echo end >&2');
  expect(answer).toMatchObject({ stdout_characters: 400_000_000, stderr: 'end\n' });
  expect(process.memoryUsage().rss - before).toBeLessThan(150e6);
}, 60_000);
