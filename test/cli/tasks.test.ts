import { expect, test } from 'vitest';
import { describeTime } from '../../src/cli/tasks/table.js';
import { cli, endOf, startCliOn } from '../support/cli.js';
import { longSleep, sleeping } from '../support/commands.js';
import { follow, useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';

leavesNothingBehind();
const tasks = useTasks();

async function detached(command: string, ...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli('run', '--detach', ...flags, command);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return tasks.note(stdout.toString().trim());
}

test('a command that is only started is listed, and its output shown with its exit code', async () => {
  const id = await detached('echo begin; sleep 0.3; echo end; exit 7');
  const { code, stdout, stderr } = await cli('attach', id);
  expect({ code, stdout: stdout.toString(), stderr }).toEqual({
    code: 7,
    stdout: 'begin\nend\n',
    stderr: '',
  });
  const list = await cli('tasks');
  const [headings, ...lines] = list.stdout.toString().trimEnd().split('\n');
  expect(headings).toMatch(/^ID {6}STATE +TIME +PID +COMMAND$/);
  expect(lines.at(-1)).toMatch(
    new RegExp(`^${id} {2}exited 7 +\\d+s +\\d+ +echo begin; sleep 0.3; echo end; exit 7$`),
  );
  const told = JSON.parse((await cli('tasks', '--json')).stdout.toString());
  expect(told).toMatchObject([{ id, state: 'ended', outcome: { kind: 'exited', exitCode: 7 } }]);
});

test('standard input goes to a task that has an input', async () => {
  const id = await detached('read a; echo "got $a"; cat', '--keep-input');
  const child = startCliOn(['pipe', 'pipe', 'pipe'], 'attach', id);
  const end = endOf(child);
  child.stdin?.end('one\ntwo\n');
  const { code, stdout } = await end;
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'got one\ntwo\n' });
});

test('leaving a task does not close its input', async () => {
  const id = await detached('while read a; do echo "got $a"; done', '--keep-input');
  const first = startCliOn(['pipe', 'pipe', 'pipe'], 'attach', id);
  let shown = '';
  first.stdout?.on('data', (bytes: Buffer) => (shown += bytes.toString()));
  const end = endOf(first);
  first.stdin?.write('one\n');
  await eventually(() => expect(shown).toBe('got one\n'));
  first.kill('SIGQUIT');
  expect((await end).code).toBe(0);
  const second = startCliOn(['pipe', 'pipe', 'pipe'], 'attach', id);
  const secondEnd = endOf(second);
  second.stdin?.end('two\n');
  const { code, stdout } = await secondEnd;
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'got one\ngot two\n' });
});

test('Ctrl-C goes to the command, and Ctrl-\\ leaves it to itself', async () => {
  const id = await detached(`trap 'echo caught' INT; echo on; while :; do ${longSleep(370)}; done`);
  const child = startCliOn(['ignore', 'pipe', 'pipe'], 'attach', id);
  let shown = '';
  child.stdout?.on('data', (bytes: Buffer) => (shown += bytes.toString()));
  const end = endOf(child);
  await eventually(() => expect(shown).toBe('on\n'));
  child.kill('SIGINT');
  await eventually(() => expect(shown).toBe('on\ncaught\n'));
  child.kill('SIGQUIT');
  const { code, stderr } = await end;
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `forkline: the task goes on; forkline attach ${id} shows it again\n`,
  });
  expect((await follow(id)).state.kind).toBe('running');
  expect((await cli('attach', '--end', id)).code).toBe(0);
  await eventually(() => expect(sleeping(370)).toEqual([]));
});

test('a task that leaves processes is reported, and a lost one', async () => {
  const id = await detached(`${longSleep(371)} & exit 2`);
  const shown = await cli('attach', id);
  expect({ code: shown.code, stderr: shown.stderr }).toEqual({
    code: 2,
    stderr: 'forkline: the command has ended, and 1 of its processes still run; --end ends them\n',
  });
  expect((await cli('tasks')).stdout.toString()).toMatch(/exited 2, processes left/);
  expect((await cli('attach', id, '--end')).code).toBe(0);
  const unknown = await cli('attach', 'nosuch');
  expect({ code: unknown.code, stderr: unknown.stderr }).toEqual({
    code: 2,
    stderr: 'forkline: id: expected the id of a detached task, got "nosuch"\n',
  });
});

test('a detached command that cannot be started has the usual error', async () => {
  const nowhere = await cli('run', '--detach', '--cwd', '/no/such/place', 'true');
  expect(nowhere).toMatchObject({ code: 126, stderr: expect.stringMatching(/\/no\/such\/place/) });
  const both = await cli('run', '--detach', '--spill', 'x', 'true');
  expect(both.code).toBe(2);
  expect(both.stderr).toMatch(/'--detach' cannot be used with option '--spill <file>'/);
});

test('a time is told in two units at most', () => {
  const times = [0, 7.9, 65, 7440, 86_399, 453_600].map((seconds) => describeTime(seconds * 1000));
  expect(times).toEqual(['0s', '7s', '1m05s', '2h04m', '23h59m', '5d06h']);
});
