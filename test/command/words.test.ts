import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import {
  type CommandLine,
  type EnvironmentOptions,
  exitCodeOf,
  InputError,
  LaunchError,
  type MergedResult,
  run,
  spawn,
  textOf,
} from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();

beforeAll(() => {
  for (const name of ['denied', 'first', 'second', 'first/directory']) mkdirSync(folder.file(name));
  const program = (name: string, text: string, mode: number) => {
    writeFileSync(folder.file(name), text);
    chmodSync(folder.file(name), mode);
  };
  program('denied/greet', '#!/bin/sh\necho denied\n', 0o644);
  program('first/greet', '#!/bin/sh\necho "first $@"\n', 0o755);
  program('second/greet', '#!/bin/sh\necho second\n', 0o755);
  program('second/directory', '#!/bin/sh\necho program\n', 0o755);
  program('first/text', 'echo text\n', 0o755);
});

const printed = ({ output }: MergedResult): string => textOf(output);
const starts = [
  (command: CommandLine, options: EnvironmentOptions & { cwd: string }) => run(command, options),
  (command: CommandLine, options: EnvironmentOptions & { cwd: string }) => spawn(command, options),
];
const path = (...names: string[]) => ({ PATH: names.map((name) => folder.file(name)).join(':') });
const outputOf = async (command: CommandLine, env?: Readonly<Record<string, string>>) =>
  printed(await run(command, { cwd: folder.path, env }));

test('a program gets its arguments unchanged, whatever they would mean to a shell', async () => {
  const odd = [
    '',
    ' ',
    '*',
    '$HOME',
    '`id`',
    'a\nb',
    "it's",
    '"',
    '\\',
    '~',
    '-n',
    'ä€😀',
    '; exit 3',
  ];
  expect(await outputOf(['printf', '<%s>', ...odd])).toBe(odd.map((word) => `<${word}>`).join(''));
});

test('a program runs without a shell: it is the process itself', async () => {
  const result = await run([process.execPath, '-p', 'process.ppid === 0 || process.argv0']);
  expect(printed(result)).toBe(`${process.execPath}\n`);
  expect(await outputOf(['cat', '/proc/self/comm'])).toBe('cat\n');
});

test("a program is the first on the command's own PATH that may be executed", async () => {
  expect(await outputOf(['greet', 'you'], path('none', 'denied', 'first', 'second'))).toBe(
    'first you\n',
  );
  expect(await outputOf(['greet'], path('second', 'first'))).toBe('second\n');
  expect(await outputOf(['directory'], path('first', 'second'))).toBe('program\n');
});

test('a program with a slash is a path relative to the directory of the command', async () => {
  expect(await outputOf(['./first/greet'], { PATH: '/none' })).toBe('first \n');
  expect(await outputOf(['greet'], { PATH: 'none:first' })).toBe('first \n');
});

test.each([
  ['is nowhere', ['no-such-program', '-x'], ['first'], 'ENOENT', 127],
  ['is not at its path', ['./nowhere'], ['first'], 'ENOENT', 127],
  ['may not be executed', ['greet'], ['denied'], 'EACCES', 126],
  ['is a directory', ['directory'], ['first'], 'EACCES', 126],
  ['is text without an interpreter', ['text'], ['first'], 'ENOEXEC', 126],
] as const)(
  'a program that %s is a launch error, not an exit code',
  async (_, words, on, code, exit) => {
    for (const start of starts) {
      const error = await failureOf(start(words, { cwd: folder.path, env: path(...on) }));
      expect(error).toBeInstanceOf(LaunchError);
      expect(error).toMatchObject({ step: 'exec', code, subject: `'${words[0]}'` });
      expect(exitCodeOf(error as LaunchError)).toBe(exit);
    }
  },
);

test('the exit code, the input and the signal of a program work as those of shell text', async () => {
  expect((await run(['sh', '-c', 'exit 7'])).outcome).toEqual({ kind: 'exited', exitCode: 7 });
  expect(printed(await run(['cat'], { input: 'in' }))).toBe('in');
  const killed = await run(['sh', '-c', 'kill -9 $$']);
  expect(killed.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
});

test('the result shows a program as the shell text that would run it', async () => {
  const { command } = await run(['echo', "it's", '']);
  expect(command).toBe(`echo 'it'\\''s' ''`);
  expect(await outputOf(command)).toBe("it's \n");
});

test('a live program takes input like shell text does, also on a terminal', async () => {
  await using live = await spawn(['cat'], { stdin: 'pipe' });
  await live.write('hello');
  live.end();
  let text = '';
  for await (const chunk of live) text += chunk.text;
  expect(text).toBe('hello');
  const result = await run(['tty'], { pty: true });
  expect(printed(result)).toMatch(/^\/dev\/pts\/\d+\r\n$/);
});

test('a change of the array after the call has no effect', async () => {
  const words = ['echo', 'said'];
  const running = run(words);
  words[1] = 'changed';
  expect(printed(await running)).toBe('said\n');
});

test.each([
  [[], 'command: expected a string, or an array of a program and its arguments, got []'],
  [5, 'command: expected a string, or an array of a program and its arguments, got 5'],
  [[''], 'command[0]: expected the name or the path of a program, got ""'],
  [['ls', 5], 'command[1]: expected a string, got 5'],
  [['ls', 'a\0b'], 'command[1]: expected text without NUL, got one at index 1'],
  [['ls', '\ud800'], 'command[1]: expected text without lone surrogates, got one at index 0'],
])('what is no command is refused by name: %j', async (command, message) => {
  for (const start of [run, spawn]) {
    const error = await failureOf((start as (command: unknown) => Promise<unknown>)(command));
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({ message });
  }
});

test.each([{ shell: ['/bin/sh'] }, { followDirectory: true }])(
  'an option for shells is refused with a program: %j',
  async (options) => {
    const error = await failureOf(run(['ls'], options));
    expect(error).toMatchObject({
      message: expect.stringMatching(/^(shell|followDirectory): expected nothing beside a program/),
    });
  },
);
