import { describe, expect, test } from 'vitest';
import { explainErrorLine, isErrorLine } from '../../src/index.js';
import { findErrorLines } from '../../src/minimizer/error-lines.js';
import { toEnd } from '../../src/minimizer/steps.js';

describe('a line about an error', () => {
  test.each([
    'error: something',
    'ERROR in ./src/index.ts',
    'npm ERR! code E404',
    'npm error Missing: left-pad@1.3.0 from lock file',
    'npm warn deprecated old@1.0.0: no longer maintained',
    'fatal: not a git repository',
    'FAILED tests/test_a.py::test_b - assert 2 == 3',
    '--- FAIL: TestRound (0.00s)',
    'FAIL\texample.com/shop/price\t0.006s',
    'panic: runtime error: index out of range',
    "thread 'main' panicked at src/main.rs:4:5:",
    'ValueError: invalid literal',
    'java.lang.NullPointerException',
    'Traceback (most recent call last):',
    'E       assert 2 == 3',
    '>       assert half_up(2.5) == 3',
    'not ok 25 - price rounds half up',
    '✖ 3 problems (2 errors, 1 warning)',
    '  ✗ rejects a negative amount',
    '× Getting requirements to build wheel did not run successfully.',
    'src/a.c:3:5: note: each identifier is reported only once',
    './main.go:7:2: declared and not used: x',
    'src/a.ts(3,5): something is off',
    "main.c:(.text+0x1f): undefined reference to `f'",
    'collect2: ld returned 1 exit status',
    'make: *** [Makefile:9: a.o] Stop.',
    'Process exited with code 3',
    'exit status 1',
    'exit code: 137',
    'Segmentation fault (core dumped)',
    'Killed',
    'sh: 1: foo: not found',
    'bash: x: No such file or directory',
    'open: Permission denied',
    'ECONNREFUSED 127.0.0.1:5432',
    'error[E0308]: mismatched types',
    'warning: unused variable: `x`',
    'DeprecationWarning: old interface',
    'AssertionError [ERR_ASSERTION]: 2 == 3',
    'Tests: 1 failed, 20 passed',
    '10 errors',
    'test result: FAILED. 3 passed; 0 failed',
    'E: Unable to locate package foo',
    'received SIGSEGV',
    '✔ compiled with 3 warnings (12ms)',
    '5 vulnerabilities (1 moderate, 4 high)',
  ])('%s', (line) => expect(isErrorLine(line)).toBe(true));
});

describe('a line about no error', () => {
  test.each([
    '',
    'added 186 packages in 8s',
    'Successfully installed flask-3.0.0',
    'found 0 vulnerabilities',
    'compiled with 0 errors and no warnings',
    'failures: 0',
    'test result: ok. 12 passed; 0 failed; 0 ignored',
    'exit status 0',
    'ok 3 - rejects an invalid amount',
    '✔ throws an error on a bad date (0.4ms)',
    'test errors::are_counted ... ok',
    '    --- PASS: TestErrors (0.00s)',
    'tests/test_error.py::test_bad_error PASSED     [ 12%]',
    '   Compiling thiserror v1.0.69',
    '[ 12%] Building C object src/a.c.o',
    'npm http fetch GET 200 https://registry.npmjs.org/http-errors 11ms (cache miss)',
    '[INFO] Downloading from central: https://example.com/maven-error-diagnostics-2.0.6.pom',
    '[INFO] Downloaded from central: https://example.com/error.pom (1.7 kB at 68 kB/s)',
    'go: downloading github.com/pkg/errors v0.9.1',
    '   Compiling error-chain v0.12.4',
    'Setting up libgpg-error0:amd64 (1.46-1) ...',
    'Get:12 http://deb.debian.org/debian bookworm/main amd64 libgpg-error-dev amd64 1.46-1 [211 kB]',
    'Collecting exceptiongroup>=1.0 (from pytest)',
    'TASK [Start the service] ***********',
  ])('%s', (line) => expect(isErrorLine(line)).toBe(false));

  test.each([
    'npm http fetch GET 404 https://registry.npmjs.org/http-errors 11ms (cache skip)',
    'go: downloading github.com/pkg/errors v0.9.1: unexpected EOF',
    'Setting up libfoo (1.46-1) ... failed',
    'Collecting flask: connection broken',
    'make: *** [Makefile:9: a.o] Error 1',
    '*** no rule to make it',
    'src/stock.c: In function ‘stock_total’:',
    'In file included from src/shop.h:3,',
    '                 from src/main.c:1:',
    "/usr/bin/ld: /tmp/cc1.o: in function `main':",
  ])('but %s is one', (line) => expect(isErrorLine(line)).toBe(true));
});

const marked = (text: string): string[] => {
  const lines = text.split('\n');
  const marks = toEnd(findErrorLines(lines));
  return lines.filter((_, index) => marks[index] === 1);
};

test('a traceback is kept with its body and the line that names the exception', () => {
  const traceback = [
    'Traceback (most recent call last):',
    '  File "a.py", line 3, in <module>',
    '    f()',
    'shop.NoSuchTea: green',
  ];
  expect(marked(['before', ...traceback, 'after'].join('\n'))).toEqual(traceback);
});

test('a traceback within a box is kept as well', () => {
  const traceback = [
    '      Traceback (most recent call last):',
    '        File "setup.py", line 2, in <module>',
    '      shop.NoSuchTea: green',
  ];
  expect(marked(['before', ...traceback, '      [end of output]'].join('\n'))).toEqual(traceback);
});

test('source excerpts and stacks below an error belong to it', () => {
  const block = [
    'error[E0425]: cannot find function `f`',
    ' --> src/main.rs:5:26',
    '  |',
    '5 |     f(1.2);',
    '  |     ^',
    '  = note: look',
  ];
  expect(marked([...block, '', '   Compiling a v1.0.0'].join('\n'))).toEqual(block);
  expect(marked('Error: x\n    at f (a.js:1:2)\nnext')).toEqual([
    'Error: x',
    '    at f (a.js:1:2)',
  ]);
});

test('progress and passed tests below an error do not', () => {
  expect(marked('warning: x\n   Compiling a v1.0.0')).toEqual(['warning: x']);
  expect(marked('✖ a fails\n  ✔ b works (1ms)\n  more')).toEqual(['✖ a fails']);
});

test.each([
  ['digits after a mark', `✓ ${'1'.repeat(1_000_000)} error`],
  ['blanks', `${' '.repeat(1_000_000)}x`],
  ['colons and digits', ':1'.repeat(500_000)],
  ['words that begin an expression', 'exit code   '.repeat(80_000)],
  ['quotes', "thread '".repeat(100_000)],
  ['boxes', '│ '.repeat(500_000)],
])('a line of a megabyte takes no longer than a megabyte of lines: %s', (_, line) => {
  const start = performance.now();
  toEnd(findErrorLines([line]));
  expect(performance.now() - start).toBeLessThan(2000);
});

test.each([
  ['> Task :core:compileJava UP-TO-DATE', undefined],
  ['> npm run build', undefined],
  ['>       assert total == 3', { kind: 'sign', text: '>       a' }],
  ['> 12 |   expect(total).toBe(3);', { kind: 'sign', text: '> 12 |' }],
  ['E   AssertionError', { kind: 'sign', text: 'E   A' }],
  ['npm warn deprecated x', { kind: 'word', text: 'warn' }],
  ['main.go:7: x', { kind: 'place', text: 'main.go:7: x' }],
  ['0 errors', undefined],
])('B26: explainErrorLine() says why a line stays: %s', (line, reason) => {
  expect(explainErrorLine(line)).toEqual(reason);
  expect(isErrorLine(line)).toBe(reason !== undefined);
});
