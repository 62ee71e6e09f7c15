import { expect, test } from 'vitest';
import { toReport } from '../../../src/engine/told/report.js';

/** The word for a program, as a keeper tells it. */
const word = (...fields: readonly (string | number)[]): string => `exec=${fields.join(',')}`;
const GIT = word('allow', 'rule', 1, 12, 11, 1700, '/usr/bin/git', '', '', 2, 'git', 'status');

test('a program is told with its arguments, as often as it was executed', () => {
  const { executed, moreExecuted, denials, enforced } = toReport(`write=none ${GIT} ${GIT}`);
  const program = {
    program: '/usr/bin/git',
    argv: ['git', 'status'],
    pid: 12,
    parent: 11,
    at: 1700,
    decision: 'allow',
    why: 'rule',
    exact: true,
  };
  expect(executed).toEqual([program, program]);
  expect({ moreExecuted, denials }).toEqual({ moreExecuted: undefined, denials: [] });
  expect(Object.keys(enforced).sort()).toEqual(['settings', 'undo', 'write']);
});

test('a report without programs has none', () => {
  expect(toReport('write=none')).not.toHaveProperty('executed');
});

test('what is not told is counted', () => {
  expect(toReport(`write=none ${GIT} exec-more=7`).moreExecuted).toBe(7);
  const argv = ['make', ...Array<string>(31).fill('x')];
  const long = word('allow', 'otherwise', 0, 2, 1, 5, '/usr/bin/make', '', '', 40, ...argv);
  expect(toReport(`write=none ${long}`).executed).toMatchObject([{ moreArgv: 8, exact: false }]);
});

test('a denied program is a denial too, equal ones once', () => {
  const denied = (pid: number) =>
    word(
      'deny',
      'asked',
      1,
      pid,
      1,
      5,
      '/usr/bin/git',
      'make',
      'ask%20first',
      3,
      'git',
      'push',
      'a%20b',
    );
  const { executed, denials } = toReport(`write=none ${denied(2)} ${denied(3)}`);
  expect(executed).toHaveLength(2);
  expect(denials).toEqual([
    {
      kind: 'exec',
      target: "git push 'a b'",
      rule: 'exec',
      source: 'kernel',
      why: 'asked',
      by: 'make',
      say: 'ask first',
    },
  ]);
});

test.each([
  ['a program by another name', '/usr/bin/rm', 'innocent', 'rm -r x'],
  ['one of many in a file', '/bin/busybox', '/bin/rm', 'rm -r x'],
  ['one without a name', '/usr/bin/rm', '', 'rm -r x'],
])('a denial names %s', (_, program, called, target) => {
  const told = word('deny', 'rule', 1, 2, 1, 5, program, '', '', 3, called, '-r', 'x');
  expect(toReport(`write=none ${told}`).denials).toMatchObject([{ target }]);
});

test('bytes that are no text are told all the same', () => {
  const told = word('allow', 'otherwise', 1, 2, 1, 5, '/a%FFb', '', '', 1, '%E2%82%AC%2C%3D%');
  const [program] = toReport(`write=none ${told}`).executed ?? [];
  expect(program).toMatchObject({ program: '/a\u{FFFD}b', argv: ['€,=%'] });
});

test('a long line ends with its beginning', () => {
  const told = word('deny', 'rule', 1, 2, 1, 5, '/bin/echo', '', '', 2, 'echo', 'x'.repeat(512));
  const [denial] = toReport(`write=none ${told}`).denials;
  expect(denial?.target).toMatch(/^echo x{295}…$/);
});
