import { expect, test } from 'vitest';
import { questionOf } from '../../src/cli/run/ask-user.js';
import type { ExecRequest } from '../../src/index.js';

const { signal } = new AbortController();
const REQUEST: ExecRequest = {
  program: '/usr/bin/git',
  argv: ['git', 'push', 'a b', "it's"],
  cwd: '/work/project',
  pid: 7,
  parents: [
    { pid: 7, program: '/usr/bin/make' },
    { pid: 6, program: '/usr/bin/make' },
    { pid: 6, program: '/usr/bin/bash' },
  ],
  signal,
};

test('the user reads what is to be executed, where, by whom, and how long there is to answer', () => {
  expect(questionOf({ ...REQUEST, say: 'Use a branch.' }, 119_500)).toBe(
    `forkline: may this run?  git push 'a b' 'it'\\''s'
forkline:   in /work/project, run by make < bash
forkline:   if not, the command is told: Use a branch.
forkline:   120 s left [y/N] `,
  );
});

test('what a terminal obeys is shown as text', () => {
  const evil = '\x1b[2J\x1b[1A\ry\n\u202e';
  const text = questionOf(
    { ...REQUEST, argv: [`git${evil}`, evil], cwd: evil, say: evil, parents: [] },
    1,
  );
  expect(text.split('\n')).toHaveLength(4);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(text).toContain('\\x1b[2J\\x1b[1A\\x0dy\\x0a\\u202e');
});

test('a program of another name is named, and what is long is counted', () => {
  const argv = ['ls', 'x'.repeat(5000)];
  const text = questionOf({ ...REQUEST, program: '/usr/bin/rm', argv }, 1);
  expect(text).toContain(`ls ${'x'.repeat(4093)}… and 907 characters more (/usr/bin/rm)`);
});

test('of many parents the nearest are named', () => {
  const parents = Array.from({ length: 9 }, (_, at) => ({ pid: at, program: `/bin/p${at}` }));
  expect(questionOf({ ...REQUEST, parents }, 0)).toContain('run by p0 < p1 < p2 < p3 < p4 < …\n');
});
