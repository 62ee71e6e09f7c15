// @module-tag slow
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quote } from '../support/commands.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { data, useSessionTools } from '../support/session.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

/** Starts a program on a terminal, waits until it waits for keys, and lets them be typed. */
async function open(command: string) {
  const tool = newSession();
  const started = await data(tool, command, { run_in_background: true, pty: true });
  const task_id = String(started.task_id);
  const task = tool.tasks?.get(task_id);
  await eventually(async () => expect(await task?.waitsFor()).toBe('terminal'));
  // Some programs wait before they have drawn all.
  const screen = textOf(await tool.taskOutput.execute({ task_id, silent: 0.5 }));
  return {
    tool,
    screen,
    type: async (writing: object) => textOf(await tool.writeTask.execute({ task_id, ...writing })),
  };
}

test('a pager is paged, searched and left', where(installed('less')), async () => {
  const { screen, type } = await open('seq 300 >n.txt; less n.txt');
  expect(screen).toContain('\n1\n2\n3\n');
  expect(await type({ keys: ['page-down'] })).toContain('\n40\n41\n');
  expect(await type({ text: '/250\n' })).toContain('\n250\n251\n');
  expect(await type({ keys: ['q'] })).toContain('status: completed');
});

test('a monitor is seen, and left', where(installed('top')), async () => {
  const { screen, type } = await open('top -d 60');
  expect(screen).toContain('PID USER');
  expect(await type({ keys: ['q'] })).toContain('status: completed');
});

test('a menu says which item is chosen', where(installed('fzf')), async () => {
  const { screen, type } = await open("printf '%s\\n' apple banana cherry | fzf --no-color");
  expect(screen).toMatch(/^> apple$/m);
  expect(await type({ keys: ['up'] })).toMatch(/^> banana$/m);
  expect(await type({ keys: ['enter'] })).toMatch(/status: completed\n\nbanana\n/);
});

test('a dialog says which button is chosen', where(installed('whiptail')), async () => {
  const { screen, type } = await open("whiptail --yesno 'Sure?' 10 30; echo code $?");
  expect(screen).toContain('highlighted: "<Yes>"');
  expect(await type({ keys: ['right'] })).toContain('highlighted: "<No>"');
  expect(await type({ keys: ['enter'], line: 'code' })).toContain('code 1');
});

test('a program of curses gets its keys', where(installed('python3')), async () => {
  const text = `import curses
def main(screen):
    screen.addstr(2, 4, 'Press a key: ')
    key = screen.getkey()
    screen.addstr(3, 4, f'{key}!')
    screen.getkey()
curses.wrapper(main)`;
  const { screen, type } = await open(`python3 -c ${quote(text)}`);
  expect(screen).toMatch(/\n {4}Press a key:\n\[cursor: row 3, column 18\]/);
  expect(await type({ keys: ['page-down'] })).toContain('    KEY_NPAGE!');
  expect(await type({ keys: ['f5'] })).toContain('status: completed');
});

test(
  'a debugger and prompts of interpreters are talked to',
  where(installed('python3')),
  async () => {
    const python = await open('python3 -q');
    expect(await python.type({ text: 'print(6 * 7)\n' })).toContain('>>> print(6 * 7)\n42\n>>>');
    expect(await python.type({ keys: ['up', 'enter'] })).toContain('42');
    expect(await python.type({ keys: ['ctrl-d'] })).toContain('status: completed');
    const node = await open(`${quote(process.execPath)} -i`);
    expect(await node.type({ text: '[6].map((x) => x * 7)\n' })).toContain('\n[ 42 ]\n>');
    expect(await node.type({ keys: ['ctrl-d'] })).toContain('status: completed');
  },
);

test('a debugger is stopped at a line', where(installed('gdb'), installed('gcc')), async () => {
  writeFileSync(join(folder.path, 's.c'), 'int main(void) {\n  int sum = 3;\n  return sum;\n}\n');
  const { type } = await open('gcc -g -o s s.c && gdb -q -nx ./s');
  const stopped = await type({ text: 'break 3\nrun\n', line: 'Breakpoint 1, ', seconds: 30 });
  expect(stopped).toMatch(/Breakpoint 1, main/);
  expect(await type({ text: 'print sum\n' })).toContain('$1 = 3');
  expect(await type({ text: 'kill\ny\nquit\n', line: 'never' })).toContain('status: completed');
});
