import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ToolError } from '../../../src/index.js';
import { longSleep, quote } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { NOT_ROOT, where } from '../../support/needs.js';
import { eventually } from '../../support/processes.js';
import { failureOf } from '../../support/results.js';
import { data, pwd, useSessionTools } from '../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

test('Scenario: cd changes persist across calls', async () => {
  const tool = newSession();
  await data(tool, 'cd /tmp');
  expect(await pwd(tool)).toBe('/tmp\n');
  expect(tool.cwd).toBe('/tmp');
});

test('Scenario: Sentinel is stripped from output', async () => {
  const answer = await newSession().execute({ command: 'echo hello' });
  expect(answer.structured).toMatchObject({ stdout: 'hello\n', stderr: '' });
  expect(JSON.stringify(answer.content)).not.toContain(folder.path);
});

test('Scenario: Missing sentinel preserves previous cwd', async () => {
  const tool = newSession();
  const answer = await data(tool, 'cd /usr; sleep 300', { timeout: 300 });
  expect(answer).toMatchObject({ timed_out: true, cwd: folder.path });
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

test('Scenario: Sentinel nonce prevents collision', async () => {
  const tool = newSession();
  const command = "echo '__BORIS_CWD__'; echo /usr; echo __BORIS_CWD_a3f7c210__; echo /usr";
  const stdout = '__BORIS_CWD__\n/usr\n__BORIS_CWD_a3f7c210__\n/usr\n';
  expect(await data(tool, command)).toMatchObject({ stdout, cwd: folder.path });
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

test('a command that is cancelled leaves the directory unchanged', async () => {
  const tool = newSession();
  const stop = new AbortController();
  const call = tool.execute(
    { command: 'cd /usr; echo here; sleep 300' },
    { signal: stop.signal, onOutput: () => stop.abort() },
  );
  expect(await failureOf(call)).toMatchObject({ name: 'ToolAbortError' });
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

/** How commands end that go to `/usr` first, and what plain bash says of them. */
const ends: readonly [command: string, exitCode: number | null, stdout: string][] = [
  ['cd /usr; exit 3', 3, ''],
  ['cd /usr; exec true', 0, ''],
  ['cd /usr; exec sh -c "echo in sh; exit 5"', 5, 'in sh\n'],
  ['cd /usr; set -e; false', 1, ''],
  ["trap 'echo bye' EXIT; cd /usr", 0, 'bye\n'],
  ["trap 'cd /usr; exit 4' EXIT", 4, ''],
  ['cd /usr # go', 0, ''],
  ['cd /usr; false \\', 1, ''],
  ["cd /usr; cat <<'X'\nhello\nX", 0, 'hello\n'],
  ['cd /usr; cat <<X\nhello', 0, 'hello\n'],
  ['cd /usr && exit 42', 42, ''],
  ['cd /usr; printf "no newline"', 0, 'no newline'],
  ['cd /usr; exec 0<&- 1>&- 2>&-; for i in {3..99}; do eval "exec $i>&-"; done', 0, ''],
  ['cd /usr; for i in {3..99}; do eval "exec $i>/dev/null"; done; echo full', 0, 'full\n'],
  ['cd /usr; ulimit -n 3; echo none; exit 7', 7, 'none\n'],
  ['cd /usr; kill -9 $$', null, ''],
  ['cd /usr; kill -TERM $$; sleep 1', null, ''],
  ['set -o posix; cd /usr; pwd() { echo /; }; cd() { :; }; cd /', 0, ''],
  ['cd /usr; unset PWD; PWD=/nowhere; readonly PWD', 0, ''],
  ['cd /usr; trap "" EXIT; command exit 2', 2, ''],
  ['cd /usr; (cd /; exit 0)', 0, ''],
  ['cd /usr; { sleep .2; cd /; } & true', 0, ''],
];

test.each(ends)('%j leaves the session in /usr', async (command, exitCode, stdout) => {
  const tool = newSession();
  expect(await data(tool, command)).toMatchObject({ exit_code: exitCode, stdout, cwd: '/usr' });
  expect(await pwd(tool)).toBe('/usr\n');
});

test('a quote that is not closed changes nothing but the exit code', async () => {
  const tool = newSession();
  const answer = await data(tool, 'cd /usr; echo "abc');
  expect(answer).toMatchObject({ exit_code: 2, stdout: '', cwd: folder.path });
  expect(answer.stderr).toContain('unexpected EOF while looking for matching');
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

test.each([
  '-leading dash',
  'new\nline',
  '\n',
  'quo\'te "and" `back`',
  'é 中 😀',
  ' (deleted)',
  '$HOME',
])('a directory called %j is followed', async (name) => {
  const tool = newSession();
  const path = folder.file(name);
  mkdirSync(path, { recursive: true });
  expect(await data(tool, `cd -- ${quote(name)}; printf x`)).toMatchObject({
    stdout: 'x',
    stderr: '',
    exit_code: 0,
    cwd: path,
  });
  expect(await pwd(tool)).toBe(`${path}\n`);
  expect(await data(tool, 'cd ..')).toMatchObject({ cwd: folder.path });
});

test('a directory whose name is no text is not followed, and the answer says so', async () => {
  const tool = newSession();
  const command = "mkdir -p $'bad\\xff'; cd $'bad\\xff'";
  const { content, details } = await tool.execute({ command });
  expect(content[0]?.text).toContain('The working directory could not be followed; it stays');
  expect(details.cwd).toBe(folder.path);
});

test('the path by which the session was given its directory stays until it moves', async () => {
  mkdirSync(folder.file('real'));
  symlinkSync(folder.file('real'), folder.file('link'));
  const tool = newSession({ cwd: folder.file('link') });
  expect(await pwd(tool)).toBe(`${folder.file('link')}\n`);
  expect(await pwd(tool)).toBe(`${folder.file('link')}\n`);
  await data(tool, 'mkdir -p sub; cd sub');
  expect(await pwd(tool)).toBe(`${folder.file('real/sub')}\n`);
});

test.each([
  ['removed', 'mkdir d1; cd d1; rmdir ../d1', 'd1', 'does not exist'],
  ['renamed', 'mkdir d2; cd d2; mv ../d2 ../d3', 'd3', ''],
  ['replaced by a file', 'mkdir d4; cd d4; rmdir ../d4; echo > ../d4', 'd4', 'is not a directory'],
])('a directory that the command itself has %s', async (_, command, name, wrong) => {
  const tool = newSession();
  expect(await data(tool, command)).toMatchObject({ cwd: folder.file(name) });
  if (wrong === '') {
    expect(await pwd(tool)).toBe(`${folder.file(name)}\n`);
    return;
  }
  const failure = await failureOf(pwd(tool));
  expect(failure).toBeInstanceOf(ToolError);
  expect(failure).toMatchObject({ kind: 'directory' });
  expect(String(failure)).toContain(
    `Working directory ${wrong}: ${folder.file(name)}. ` +
      `This command was not run; the next one will start in ${folder.path}, as at first.`,
  );
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

test('a directory that is gone by the next call: nothing is run, and the session goes back', async () => {
  const tool = newSession();
  await data(tool, 'mkdir e; cd e');
  renameSync(folder.file('e'), folder.file('f'));
  const failure = await failureOf(data(tool, `touch ${folder.file('ran')}`));
  expect(String(failure)).toContain('does not exist');
  expect(existsSync(folder.file('ran'))).toBe(false);
  expect(await pwd(tool)).toBe(`${folder.path}\n`);
});

test('a task cannot start in a directory that is gone either', async () => {
  const tool = newSession();
  await data(tool, 'mkdir g; cd g; rmdir ../g');
  const failure = await failureOf(data(tool, 'true', { run_in_background: true }));
  expect(failure).toMatchObject({ kind: 'directory' });
  expect(await data(tool, 'true', { run_in_background: true })).toMatchObject({
    status: 'running',
  });
});

test('a session that starts in no directory says so at its first call, and has nowhere to go', async () => {
  const tool = newSession({ cwd: folder.file('none') });
  const failure = await failureOf(pwd(tool));
  expect(failure).toMatchObject({ kind: 'directory' });
  expect(String(failure)).toMatch(/does not exist: .*none$/);
  mkdirSync(folder.file('none'));
  expect(await pwd(tool)).toBe(`${folder.file('none')}\n`);
});

// A user who may do everything may enter every directory.
test('cd into a directory that may not be entered', where(NOT_ROOT), async () => {
  mkdirSync(folder.file('closed'));
  chmodSync(folder.file('closed'), 0);
  const tool = newSession();
  expect(await data(tool, 'cd closed')).toMatchObject({ exit_code: 1, cwd: folder.path });
});

test('cd into what is no directory is bash’s to say', async () => {
  const tool = newSession();
  const answer = await data(tool, 'cd /etc/passwd');
  expect(answer).toMatchObject({ exit_code: 1, cwd: folder.path });
  expect(answer.stderr).toMatch(/^bash: line 1: cd: \/etc\/passwd: Not a directory\n$/);
});

test('a child in the background that prints later adds nothing to a later answer', async () => {
  const tool = newSession();
  const late = folder.file('late');
  await data(tool, `(sleep .7; echo late; cd /; echo done > ${quote(late)}) & cd /usr; echo now`);
  expect(await pwd(tool)).toBe('/usr\n');
  await eventually(() => expect(readFileSync(late, 'utf8')).toBe('done\n'));
  expect(await pwd(tool)).toBe('/usr\n');
});

test('only the directory lasts', async () => {
  const tool = newSession();
  await data(tool, 'X=1; export Y=2; f() { :; }; alias a=ls; set -f; umask 0777; ulimit -n 50');
  const seen = await data(tool, 'echo "$X$Y"; type f a 2>&1; echo $-; umask; ulimit -n');
  const fresh = await data(newSession(), 'echo "$X$Y"; type f a 2>&1; echo $-; umask; ulimit -n');
  expect(seen.stdout).toBe(fresh.stdout);
});

test('the text of a command is in no process’s arguments', async () => {
  const command = `${longSleep(304)} & sleep .2; pkill -f ${quote(longSleep(304))}; echo alive`;
  expect(await data(newSession(), command)).toMatchObject({ stdout: 'alive\n' });
});

test('the working directory and the umask of the host are its own', async () => {
  const before = [process.cwd(), process.umask()];
  await data(newSession(), 'cd /usr; umask 0777');
  expect([process.cwd(), process.umask()]).toEqual(before);
});
