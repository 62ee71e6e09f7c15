import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isErrorLine } from '../../src/index.js';
import { DEFAULT_OUTPUT_FILTERS } from '../../src/minimizer/default-filters.js';
import { findErrorLines } from '../../src/minimizer/error-lines.js';
import { toText } from '../../src/minimizer/numbered-text.js';
import { createMinimizer } from '../../src/minimizer/options.js';
import { toEnd } from '../../src/minimizer/steps.js';
import { read } from '../support/house.js';

const folder = fileURLToPath(new URL('recordings', import.meta.url));

interface Recording {
  /** What was run. */
  readonly command: string;
  /** At most so much of the recording is left: the rest is noise. */
  readonly atMost: number;
  /** Lines that tell what went wrong, as a person would point them out. */
  readonly errors: readonly string[];
}

const recordings: Readonly<Record<string, Recording>> = {
  'npm-install-spinner.txt': { command: 'npm install', atMost: 0.05, errors: [] },
  'npm-install-http.txt': {
    command: 'npm install --loglevel=http',
    atMost: 0.02,
    errors: [],
  },
  'npm-install-deprecated.txt': {
    command: 'npm install --fund',
    atMost: 0.95,
    errors: [
      'npm warn EBADENGINE Unsupported engine {',
      "npm warn EBADENGINE   required: { node: '>=99' },",
      'npm warn deprecated old-logger@1.2.0: old-logger is no longer maintained: use new-logger',
    ],
  },
  'npm-install-failing.txt': {
    command: 'npm install',
    atMost: 0.7,
    errors: [
      'npm error code ERESOLVE',
      'npm error ERESOLVE unable to resolve dependency tree',
      'npm error Could not resolve dependency:',
      'npm error peer react@"17.0.2" from react-dom@17.0.2',
    ],
  },
  'npm-install-script-fails.txt': {
    command: 'npm install --loglevel=http',
    atMost: 0.5,
    errors: [
      'npm warn deprecated old-logger@1.2.0: old-logger is no longer maintained: use new-logger',
      'npm error code 1',
      'npm error Error: no compiler found',
      'npm error     at Object.<anonymous> (/srv/project/node_modules/flaky-build/build.js:1:45)',
    ],
  },
  'npm-test-failing.txt': {
    command: 'npm test',
    atMost: 0.35,
    errors: [
      'not ok 25 - price rounds half up',
      "  error: '2 == 3'",
      '  expected: 3',
      '  actual: 2',
      'not ok 26 - price rejects a negative amount',
      "  error: 'amount must not be negative'",
      '# fail 2',
    ],
  },
  'npm-test-tap.txt': {
    command: 'node --test --test-reporter=tap test/',
    atMost: 0.35,
    errors: ['not ok 25 - price rounds half up', 'not ok 26 - price rejects a negative amount'],
  },
  'pip-install-pty.txt': { command: 'pip install flask', atMost: 0.1, errors: [] },
  'pip-install-satisfied.txt': { command: 'pip install flask', atMost: 0.05, errors: [] },
  'pip-conflict.txt': {
    command: 'python3 -m pip install flask==3.0.0 werkzeug==1.0.0',
    atMost: 0.8,
    errors: [
      'ERROR: Cannot install flask==3.0.0 and werkzeug==1.0.0 because these package versions have conflicting dependencies.',
      'The conflict is caused by:',
      '    flask 3.0.0 depends on Werkzeug>=3.0.0',
    ],
  },
  'pip-build-fails.txt': {
    command: 'venv/bin/pip install ./bad',
    atMost: 0.95,
    errors: [
      '  error: subprocess-exited-with-error',
      '  × Getting requirements to build wheel did not run successfully.',
      '  │ exit code: 1',
      '      Traceback (most recent call last):',
      '        File "<string>", line 2, in <module>',
      "      ModuleNotFoundError: No module named 'not_a_module_at_all'",
    ],
  },
  'cargo-build-errors.txt': {
    command: 'cargo build',
    atMost: 0.8,
    errors: [
      'warning: unused import: `std::collections::HashMap`',
      'error[E0425]: cannot find function `rounded` in crate `shop`',
      ' --> src/main.rs:5:26',
      '5 |     println!("{}", shop::rounded(1.2));',
      'error[E0308]: mismatched types',
      '3 |     let total: i64 = "12";',
      'error: could not compile `shop` (bin "shop") due to 2 previous errors; 1 warning emitted',
    ],
  },
  'cargo-test-failing.txt': {
    command: 'cargo test',
    atMost: 0.9,
    errors: [
      'test tests::rounds_half_up ... FAILED',
      'test tests::takes_the_first ... FAILED',
      '  left: 2',
      ' right: 3',
      'test result: FAILED. 24 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.25s',
    ],
  },
  'cargo-test-failing-pty.txt': {
    command: 'cargo test',
    atMost: 0.7,
    errors: ['test tests::rounds_half_up ... FAILED', '  left: 2', ' right: 3'],
  },
  'pytest-failing.txt': {
    command: 'python3 -m pytest',
    atMost: 0.97,
    errors: [
      'tests/test_price.py FFE.                                                 [ 36%]',
      'E       ConnectionRefusedError: no database on port 5432',
      '>       assert half_up(2.5) == 3',
      'E       assert 2 == 3',
      'tests/test_price.py:8: KeyError',
      '  /srv/project/tests/test_cart.py:6: DeprecationWarning: old interface of cart',
      "FAILED tests/test_price.py::test_lookup - KeyError: 'coffee'",
      '========= 2 failed, 94 passed, 3 skipped, 3 warnings, 1 error in 0.20s =========',
    ],
  },
  'pytest-verbose-color.txt': {
    command: 'pytest -v --color=yes',
    atMost: 0.25,
    errors: [
      'tests/test_price.py::test_lookup FAILED                                  [ 34%]',
      'tests/test_price.py::test_saves ERROR                                    [ 35%]',
      "E       KeyError: 'coffee'",
    ],
  },
  'go-test-failing.txt': {
    command: 'go test -v ./...',
    atMost: 0.3,
    errors: [
      '    price_test.go:9: Round(2.5) = 2, want 3',
      '--- FAIL: TestRound (0.00s)',
      'panic: runtime error: index out of range [0] with length 0 [recovered, repanicked]',
      'FAIL\texample.com/shop/pkg/price\t0.006s',
    ],
  },
  'go-build-errors.txt': {
    command: 'go build ./cmd',
    atMost: 1,
    errors: [
      'cmd/main.go:6:14: undefined: undefinedName',
      'cmd/main.go:7:6: declared and not used: s',
      '\thave (number)',
    ],
  },
  'make-gcc-errors.txt': {
    command: 'make -k -j2',
    atMost: 0.65,
    errors: [
      'src/stock.c:2:10: fatal error: absent.h: No such file or directory',
      'src/stock.c:2:26: error: ‘undeclared_thing’ undeclared (first use in this function)',
      '    2 | int stock(void) { return undeclared_thing + 1 }',
      'src/main.c:4:22: warning: unused variable ‘unused’ [-Wunused-variable]',
      'make: *** [Makefile:9: src/stock.o] Error 1',
      "make: Target 'all' not remade because of errors.",
    ],
  },
  'make-link-error.txt': {
    command: 'make',
    atMost: 0.55,
    errors: [
      "/srv/project/src/main.c:4: undefined reference to `missing_symbol'",
      'collect2: error: ld returned 1 exit status',
      'make: *** [Makefile:7: shop] Error 1',
    ],
  },
  'docker-build-plain.txt': {
    command: 'docker build --progress=plain .',
    atMost: 0.55,
    errors: [
      '#9 1.804 npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.',
      '#9 2.912 npm error Missing: left-pad@1.3.0 from lock file',
      '#9 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
      '   7 | >>> RUN npm ci',
      'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
    ],
  },
  'docker-pull-legacy.txt': {
    command: 'docker pull postgres',
    atMost: 0.2,
    errors: [
      'failed to register layer: write /usr/lib/postgresql/16/bin/postgres: no space left on device',
    ],
  },
  'docker-pull-terminal.txt': {
    command: 'docker pull postgres',
    atMost: 0.02,
    errors: [
      'failed to register layer: write /usr/lib/postgresql/16/bin/postgres: no space left on device',
    ],
  },
};

test('every recording is tried', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  expect(Object.keys(recordings).sort()).toEqual(files.sort());
});

test.each(DEFAULT_OUTPUT_FILTERS)('the filter $name leaves out lines of a recording', (filter) => {
  const isShorter = Object.entries(recordings).some(([name, { command }]) => {
    if (filter.applies?.(command) === false) return false;
    const lines = readFileSync(join(folder, name), 'utf8').split(/\r?\n/);
    return [...filter.filter(lines, () => false)].length > 0;
  });
  expect(isShorter).toBe(true);
});

test.each(DEFAULT_OUTPUT_FILTERS)('docs/workspace.md has the filter $name', ({ name }) => {
  const [, filters = ''] = /^2\. \*\*Filters\*\*(.*?)\.\n/ms.exec(read('docs/workspace.md')) ?? [];
  const [word = ''] = name.split('-');
  expect(filters.toLowerCase()).toMatch(new RegExp(`\\b${word}\\b`));
});

describe.each(Object.entries(recordings))('%s', (name, { command, atMost, errors }) => {
  const raw = readFileSync(join(folder, name), 'utf8');
  const shorten = async () => {
    const warnings: string[] = [];
    const result = await createMinimizer(true, (text) => warnings.push(text))?.minimize(
      raw,
      command,
    );
    if (result === undefined) throw new Error('expected a minimizer');
    expect(warnings).toEqual([]);
    return { cleaned: result.cleaned.lines, text: toText(result.minimized) };
  };

  test('every line about an error is there', async () => {
    const { cleaned, text } = await shorten();
    const lines = text.split('\n');
    for (const line of errors) expect(lines).toContain(line);
    const marks = toEnd(findErrorLines(cleaned));
    const all = cleaned.filter((line, index) => marks[index] === 1 || isErrorLine(line));
    // As many, and in this order.
    let at = 0;
    for (const line of all) {
      const found = lines.indexOf(line, at);
      expect(found, `${line} is missing after line ${at}`).toBeGreaterThanOrEqual(at);
      at = found + 1;
    }
  });

  test('only noise is left out', async () => {
    const { text } = await shorten();
    expect(text.length / raw.length).toBeLessThanOrEqual(atMost);
    await expect(text).toMatchFileSnapshot(join(folder, 'shown', name));
  });
});
