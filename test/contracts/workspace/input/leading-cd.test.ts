import { expect, test } from 'vitest';
import { takeLeadingCd } from '../../../../src/contracts/workspace/input/leading-cd.js';

const take = (command: string) => takeLeadingCd(command, '/home/me');

test.each([
  ['cd a && ls', 'a', 'ls'],
  ['  cd   a/b&&ls  ', 'a/b', 'ls'],
  ['cd "a b" && ls', 'a b', 'ls'],
  ["cd 'a b' && ls", 'a b', 'ls'],
  ["cd 'a $x' && ls", 'a $x', 'ls'],
  ['cd a\\ b && ls', 'a b', 'ls'],
  ['cd a"b c"d && ls', 'ab cd', 'ls'],
  ['cd "a\\"b\\\\c\\d" && ls', 'a"b\\c\\d', 'ls'],
  ['cd a\\&b && ls', 'a&b', 'ls'],
  ['cd ~/x && ls', '/home/me/x', 'ls'],
  ['cd .. && ls', '..', 'ls'],
  ['cd a && ls | wc; pwd && echo x', 'a', 'ls | wc; pwd && echo x'],
  ['cd a && ls >x 2>&1 &>y', 'a', 'ls >x 2>&1 &>y'],
  ['\ncd a && ls\n', 'a', 'ls'],
])('%j runs in a directory', (command, directory, rest) => {
  expect(take(command)).toEqual({ directory, command: rest });
});

test('where CDPATH is searched, only a path that it does not apply to is taken', () => {
  const searched = (command: string) => takeLeadingCd(command, '/home/me', '/srv');
  for (const path of ['/a', './a', '../a', '.', '..', '~/a', '"/a b"']) {
    expect(searched(`cd ${path} && ls`)).toEqual({
      ...take(`cd ${path} && ls`),
      command: 'ls',
    });
  }
  for (const path of ['a', 'a/b', '.a', '..a', '...', '"a b"']) {
    expect(searched(`cd ${path} && ls`)).toBeUndefined();
    expect(take(`cd ${path} && ls`)).toBeDefined();
  }
});

test.each([
  'ls',
  'cd a',
  'cd && ls',
  'cd a &&',
  'cd a && # nothing',
  'cd a >x && ls',
  'cd a b && ls',
  'cd a;rm x && ls',
  'cd a || true && ls',
  'cd a | b && ls',
  'cd a & && ls',
  'cd $X && ls',
  'cd "$X" && ls',
  'cd `x` && ls',
  'cd a* && ls',
  'cd {a,b} && ls',
  'cd -P a && ls',
  'cd - && ls',
  "cd '' && ls",
  'cd ~ && ls',
  'cd ~me/x && ls',
  'cd "~/x" && ls',
  'cd ~\\/x && ls',
  'cd "a && ls',
  "cd 'a && ls",
  'cd a\\\n && ls',
  'cd a\nls && pwd',
  'cd a && ls\npwd',
  'cd a &&\nls',
  'cd a && server & pwd',
  'cda && ls',
])('%j is left to bash', (command) => {
  expect(take(command)).toBeUndefined();
});

test('a long quoted word takes no time', () => {
  expect(take(`cd "${'\\a'.repeat(200_000)}`)).toBeUndefined();
});
