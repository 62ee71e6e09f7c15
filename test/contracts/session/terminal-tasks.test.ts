import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type BashTool, createBashTool, type SessionTool } from '../../../src/index.js';
import { quote } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { installed, where } from '../../support/needs.js';
import { failureOf } from '../../support/results.js';
import { data, useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

/** What a tool answers. */
async function say(tool: BashTool, input: object): Promise<string> {
  return textOf(await tool.execute(input));
}

/** Starts a command on a terminal; gives its id. */
async function startTerminal(tool: SessionTool, command: string): Promise<string> {
  const { task_id } = await data(tool, command, { run_in_background: true, pty: true });
  return String(task_id);
}

/** The lines of an answer about a task after its head. */
const body = (answer: string): string => answer.split('\n').slice(3).join('\n');

const SHELL = 'PS1="ready> " exec bash --norc --noprofile -i';

test('T: what is on the terminal is told, once, and what it waits for', async () => {
  const tool = newSession();
  const id = await startTerminal(tool, SHELL);
  const first = await say(tool.taskOutput, { task_id: id, line: 'ready>' });
  expect(body(first)).toMatch(/^ready>\n\nIt has printed: .*ready>/);
  const typed = await say(tool.writeTask, { task_id: id, text: 'tty -s && echo "a  b"\n' });
  expect(body(typed)).toMatch(
    /^ready> tty -s && echo "a {2}b"\na {2}b\nready>\n\nIt has printed nothing for .*, and waits for input on its terminal\.$/,
  );
  expect(body(await say(tool.taskOutput, { task_id: id, new: true }))).toBe(
    '[The screen has not changed.]\n\nIt waits for input on its terminal.',
  );
  // Without a wait, all of it is told again.
  expect(body(await say(tool.taskOutput, { task_id: id }))).toBe(
    'ready> tty -s && echo "a  b"\na  b\nready>\n\nIt waits for input on its terminal.',
  );
  const ended = await say(tool.writeTask, { task_id: id, keys: ['ctrl-d'] });
  expect(ended).toMatch(
    new RegExp(`^task_id: ${id}\nstatus: completed\n\n(?:ready> )?exit\n\nAll of its output: `),
  );
  expect(await say(tool.writeTask, { task_id: id, keys: ['a'] })).toContain(
    `Task not found: ${id}`,
  );
});

test('T: keys edit a line, and interrupt what runs', async () => {
  const tool = newSession();
  const id = await startTerminal(tool, SHELL);
  await say(tool.taskOutput, { task_id: id, line: 'ready>' });
  await say(tool.writeTask, {
    task_id: id,
    text: 'echo ac',
    keys: ['left', 'b', 'end', 'd', 'enter'],
  });
  const again = await say(tool.writeTask, { task_id: id, keys: ['up', 'left'] });
  expect(body(again)).toMatch(/^ready> echo abcd\n\[cursor: row 1, column 16\]\n/);
  await say(tool.writeTask, { task_id: id, keys: ['ctrl-u', 'ctrl-k'], text: '' });
  await say(tool.writeTask, { task_id: id, text: 'sleep 60\n' });
  const stopped = await say(tool.writeTask, { task_id: id, keys: ['ctrl-c'] });
  expect(body(stopped)).toContain('^C\nready>');
});

test('T: cursor keys are those of the mode that the program has asked for', async () => {
  const tool = newSession();
  const keys = "printf '\\033[?1hgo'; read -rsn3 k; printf '%q' \"$k\"; read -r x";
  const id = await startTerminal(tool, keys);
  await say(tool.taskOutput, { task_id: id, line: 'go' });
  expect(await say(tool.writeTask, { task_id: id, keys: ['up'] })).toContain("$'\\EOA'");
});

test('T: a program sees the terminal resized, and its next screen has that size', async () => {
  const tool = newSession();
  const id = await startTerminal(
    tool,
    'trap "stty size" WINCH; stty size; while :; do read -rt 60 x; done',
  );
  expect(await say(tool.taskOutput, { task_id: id, line: '40 120' })).toContain('40 120');
  const resized = await say(tool.writeTask, { task_id: id, columns: 60, rows: 20 });
  expect(body(resized)).toMatch(/^20 60\n/);
  expect(await failureOf(tool.writeTask.execute({ task_id: id, columns: 5 }))).toMatchObject({
    kind: 'input',
    message: 'columns: expected a whole number from 20 to 400, got 5',
  });
});

test('T: a prompt for a password is told as one, and is answered by none but the model', async () => {
  const tool = newSession();
  const id = await startTerminal(tool, 'read -rsp "Password: " p; echo; printf %s "$p" | wc -c');
  const asked = await say(tool.taskOutput, { task_id: id, silent: 0.3 });
  expect(body(asked)).toMatch(
    /^Password:\n\nIt has printed nothing for .* seconds\. It asks for a password \(echo is off: /,
  );
  const late = await say(tool.taskOutput, { task_id: id, line: 'never', seconds: 0.2 });
  expect(late).toContain(
    'Nothing of that has happened within 0.2 seconds.\nIt asks for a password',
  );
  const answered = await say(tool.writeTask, { task_id: id, text: 'secret\n' });
  expect(answered).toContain('\n6\n');
  expect(answered).not.toContain('secret');
});

test('T: programs that ask their terminal are answered', async () => {
  const tool = newSession();
  const id = await startTerminal(
    tool,
    'stty -icanon -echo; printf "ab\\033[6n"; IFS= read -rd R x; printf "\\n%q\\n" "$x"; sleep 60',
  );
  const told = await say(tool.taskOutput, { task_id: id, silent: 1 });
  expect(told).toContain("$'\\E[1;3'");
});

test('T: a terminal is told as text at its end, even if it was never looked at', async () => {
  const tool = newSession();
  const id = await startTerminal(
    tool,
    'printf "\\033[31mred\\033[0m\\r\\nten %%\\rall %%\\n"; exit 3',
  );
  await tool.tasks?.settled();
  const end = await say(tool.taskOutput, { task_id: id });
  expect(end).toBe(`task_id: ${id}\nstatus: completed\n\nred\nall %\n\nCommand exited with code 3`);
});

test(
  'T: an editor that is not there fails, and one that is there works',
  where(installed('vim')),
  async () => {
    const tool = newSession();
    const id = await startTerminal(tool, 'vim -u NONE -i NONE -n notes.txt');
    const screen = await say(tool.taskOutput, { task_id: id, silent: 0.5 });
    expect(screen).toMatch(/\n~\n\[… 3\d more rows like it …\]\n.*\[cursor: row 1, column 1\]/s);
    await say(tool.writeTask, { task_id: id, text: 'ifirst\nsecond' });
    const end = await say(tool.writeTask, {
      task_id: id,
      keys: ['escape', ':', 'w', 'q', 'enter'],
    });
    expect(end).toContain('status: completed');
    expect(readFileSync(join(folder.path, 'notes.txt'), 'utf8')).toBe('first\nsecond\n');
  },
);

test('T: a commit is written in an editor', where(installed('git')), async () => {
  const tool = newSession({
    env: { GIT_EDITOR: 'sh -c \'read -r m </dev/tty; echo "$m" >"$1"\' -' },
  });
  const git = 'git -c user.name=A -c user.email=a@example.com';
  const id = await startTerminal(tool, `git init -q . && ${git} commit -q --allow-empty`);
  await say(tool.taskOutput, { task_id: id, silent: 0.5 });
  await say(tool.writeTask, { task_id: id, text: 'The subject\n', line: 'never', seconds: 20 });
  expect((await data(tool, 'git log --format=%s')).stdout).toBe('The subject\n');
});

test('T14: a pipe is closed by ctrl-d', async () => {
  const tool = newSession();
  const { task_id } = await data(tool, 'sort', { run_in_background: true, stdin: true });
  await say(tool.writeTask, { task_id, text: 'b\na\n' });
  const ended = await say(tool.writeTask, { task_id, keys: ['ctrl-d'], line: 'never' });
  expect(ended).toContain('status: completed\n\na\nb');
});

test('T14: with a pipe, other keys are refused by their names, and nothing is written', async () => {
  const tool = newSession();
  const { task_id } = await data(tool, 'cat', { run_in_background: true, stdin: true });
  const write = (input: object) => failureOf(tool.writeTask.execute({ task_id, ...input }));
  expect(await write({ keys: ['enter', 'up'] })).toMatchObject({
    kind: 'input',
    message:
      'keys[1]: expected ctrl-d, ctrl-c or enter, since it has no terminal (start it again with ' +
      '`pty: true`), got "up"',
  });
  expect(await write({ keys: ['ctl-d'] })).toMatchObject({
    message: expect.stringContaining('(did you mean "ctrl-d"?)'),
  });
  expect(await write({})).toMatchObject({
    message: 'text: expected a text, or `keys` in its place, got neither',
  });
  expect(await write({ rows: 30 })).toMatchObject({
    message: `${task_id}: it has no terminal that could be resized.`,
  });
  expect(await say(tool.taskOutput, { task_id })).toContain('(no output yet)');
});

test('W17: the advice for a task without stdin works when it is followed', async () => {
  const tool = newSession();
  const { task_id: first } = await data(tool, 'sleep 60', { run_in_background: true });
  const failure = await failureOf(tool.writeTask.execute({ task_id: first, text: 'x\n' }));
  const fields = [...String(failure).matchAll(/`(\w+): true`/g)].map(([, name]) => name ?? '');
  expect(fields).toEqual(['stdin', 'pty']);
  await say(tool.killTask, { task_id: first });
  for (const field of fields) {
    const { task_id } = await data(tool, 'cat', { run_in_background: true, [field]: true });
    expect(await say(tool.writeTask, { task_id, text: 'hello\n', line: 'hello' })).toContain(
      'hello',
    );
  }
});

test('a terminal is for what runs in the background', async () => {
  expect(await failureOf(newSession().execute({ command: 'true', pty: true }))).toMatchObject({
    kind: 'input',
    message: 'pty: expected to come with `run_in_background: true`',
  });
});

test('T: a flood is told by its end, and what is left out is counted and named', async () => {
  const tool = newSession();
  const id = await startTerminal(tool, 'seq 400000; read -r x');
  const told = await say(tool.taskOutput, { task_id: id, silent: 1.5, seconds: 40 });
  expect(told).toMatch(/\[… (?:earlier lines|\S+) not shown; all that was printed: \S+ …\]\n/);
  expect(told).toContain('\n399999\n400000\n');
  expect(told.length).toBeLessThan(20_000);
  const file = /printed: (\S+) …\]/.exec(told)?.[1] ?? '';
  expect(readFileSync(file, 'utf8')).toContain('\r\n200000\r\n');
});

test('T: text is typed as it is, a newline as Enter', async () => {
  const tool = newSession();
  const file = join(folder.path, 'a b');
  writeFileSync(file, '');
  const id = await startTerminal(tool, `cat >${quote(file)}`);
  await say(tool.writeTask, {
    task_id: id,
    text: 'é 字 🙂\r\ntwo\n',
    keys: ['ctrl-d'],
    line: 'never',
  });
  expect(readFileSync(file, 'utf8')).toBe('é 字 🙂\ntwo\n');
});

test('T: a program that prints without end can be interrupted, and costs a bounded time', async () => {
  const tool = newSession();
  const id = await startTerminal(tool, 'yes; echo over; read -r x');
  await say(tool.taskOutput, { task_id: id, seconds: 0.5 });
  const told = await say(tool.writeTask, {
    task_id: id,
    keys: ['ctrl-c'],
    line: 'over',
    seconds: 30,
  });
  expect(told).not.toContain('Nothing of that has happened');
  expect(told.length).toBeLessThan(40_000);
});

test('tools of plain and modes have no terminal, and say so', async () => {
  const plain = createBashTool({ contract: 'plain', cwd: folder.path });
  const modes = createBashTool({ contract: 'modes', cwd: folder.path });
  const given = { command: 'true', pty: true };
  expect(await say(plain, given)).toContain('pty: not known here');
  expect(String(await failureOf(modes.execute(given)))).toContain('pty: not known here');
  await plain.dispose();
  await modes.dispose();
});
