import { describe, expect, test } from 'vitest';
import { DEFAULT_OUTPUT_FILTERS, type OutputFilter } from '../../src/index.js';
import { findErrorLines } from '../../src/minimizer/error-lines.js';
import { toEnd } from '../../src/minimizer/steps.js';
import { make } from '../support/minimizer.js';
import { fc } from '../support/properties.js';

/** Lines of a filter's noise, as many as make it worth a marker. */
const many = (line: (index: number) => string, count = 30): string[] =>
  Array.from({ length: count }, (_, index) => line(index));

describe('W3: of a command that did not end by itself, the last lines stay', () => {
  test.each<[string, readonly string[], string]>([
    [
      'cargo build',
      many((index) => `   Compiling crate${index} v1.0.${index}`),
      '    Blocking waiting for file lock on build directory',
    ],
    [
      'cargo build',
      many((index) => `   Compiling crate${index} v1.0.${index}`),
      '   Compiling openssl-sys v0.9.2',
    ],
    ['go test -v ./...', many((index) => `--- PASS: TestA${index} (0.00s)`), '=== RUN   TestHangs'],
    [
      'apt-get install -y tzdata',
      many((index) => `Unpacking part${index} (1.${index}) ...`),
      'Setting up tzdata (2024a-0+deb12u1) ...',
    ],
    ['pip install flask', many((index) => `Collecting part${index}`), 'Collecting numpy'],
    [
      'npm install --loglevel=http',
      many((index) => `npm http fetch GET 200 https://registry.npmjs.org/p${index} 12ms`),
      'npm http fetch GET 200 https://registry.npmjs.org/left-pad 12ms (cache miss)',
    ],
    [
      'make',
      many((index) => `gcc -O2 -c -o part${index}.o part${index}.c`),
      'gcc -O2 -o shop main.o -lshop',
    ],
    [
      'docker pull x',
      many((index) => `${`${index}`.padStart(12, 'a')}: Pull complete`),
      '6b619854d5af: Downloading [==>      ]  1.2MB/200MB',
    ],
    [
      'mvn test',
      many((index) => `[INFO] Downloading from central: https://example.com/p${index}.pom`),
      '[INFO] Running shop.HangingTest',
    ],
  ])('%s', async (command, before, last) => {
    const text = [...before, last, ''].join('\n');
    const ended = await make().shorten(text, command, false);
    const lines = ended.text.trimEnd().split('\n');
    expect(lines.slice(-10)).toEqual([...before, last].slice(-10));
    expect(lines[0]).toMatch(/^\[… \d+ lines left out: /);
    // Of one that ended well they are noise like the others.
    expect((await make().shorten(text, command, true)).text.length).toBeLessThan(ended.text.length);
  });

  test('a test of which no end is told stays, wherever its start is', async () => {
    const lines = [
      '=== RUN   TestHangs',
      '=== PAUSE TestHangs',
      ...many((index) => `=== RUN   TestA${index}`),
      '=== CONT  TestHangs',
      ...many((index) => `--- PASS: TestA${index} (0.00s)`),
    ];
    const { text } = await make().shorten(lines.join('\n'), 'go test -v', true);
    expect(text.split('\n').filter((line) => line.startsWith('==='))).toEqual([
      '=== RUN   TestHangs',
      '=== PAUSE TestHangs',
      '=== CONT  TestHangs',
    ]);
  });

  test('so does one of Playwright', async () => {
    const title = (index: number) => `shop.spec.ts:${index}:5 › adds up`;
    const lines = [
      'Running 31 tests using 2 workers',
      `      31 ${title(31)}`,
      ...many((index) => `      ${index} ${title(index)}\n  ✓   ${index} ${title(index)} (3ms)`),
    ];
    const { text } = await make().shorten(lines.join('\n'), 'npx playwright test', true);
    expect(text).toContain(`      31 ${title(31)}\n`);
    expect(text).toContain('[… 60 lines left out: test starts (30), passed tests (30) …]');
  });

  test('a resource that is not complete stays', async () => {
    const lines = [
      'aws_db.slow: Creating...',
      ...many((index) => `aws_x.a[${index}]: Creating...`),
      ...many((index) => `aws_x.a[${index}]: Creation complete after 1s [id=${index}]`),
      'aws_db.slow: Still creating... [10s elapsed]',
      'aws_db.slow: Still creating... [20s elapsed]',
      '',
    ];
    const { text } = await make().shorten(lines.join('\n'), 'terraform apply', true);
    expect(text).toContain('aws_db.slow: Creating...');
    expect(text).toContain('aws_db.slow: Still creating... [20s elapsed]');
    expect(text).not.toContain('aws_x.a[3]: Creating...');
  });
});

describe('W20: the line before an error stays', () => {
  const call = (name: string) => `cc -O2 -Wall -Isrc -c -o build/${name}.o src/${name}.c`;
  const calls = many((index) => call(`part${index}`));

  test('a compiler’s call', async () => {
    const lines = [...calls, call('stock'), 'src/stock.c:2:5: error: expected ‘;’', ...calls];
    const { text } = await make().shorten(lines.join('\n'), 'make', true);
    expect(text).toContain(`${call('stock')}\nsrc/stock.c:2:5: error`);
    expect(text).not.toContain(call('part0'));
  });

  test('a call with the words that a compiler begins with, and with others in between', async () => {
    const lines = [
      ...calls,
      call('stock'),
      ...many((index) => call(`user${index}`)),
      'In file included from src/shop.h:3,',
      '                 from src/stock.c:1:',
      'src/stock.c: In function ‘total’:',
      'src/stock.c:2:5: error: expected ‘;’',
    ];
    const { text } = await make().shorten(lines.join('\n'), 'make -j4', true);
    expect(text).toContain(call('stock'));
    expect(text).not.toContain(call('user3'));
    expect(text).toContain(lines.slice(-4).join('\n'));
  });

  test('a task of Gradle with output, and a test that passed before one that failed', async () => {
    const tasks = many((index) => `> Task :part${index}:compileJava UP-TO-DATE`);
    const lines = [...tasks, '> Task :app:compileJava', 'Note: it is old.', ...tasks];
    const { text } = await make().shorten(lines.join('\n'), './gradlew build', true);
    expect(text).toContain('> Task :app:compileJava\nNote: it is old.');
    expect(text).not.toContain(':part3:');
  });
});

describe('for any output, any outcome and any filter', () => {
  const greedy: OutputFilter = {
    name: 'greedy',
    *filter(lines, mustStay) {
      for (const index of lines.keys()) {
        if (!mustStay(index)) yield { start: index, end: index + 1, what: 'all' };
      }
    },
  };
  const careless: OutputFilter = {
    name: 'careless',
    *filter(lines) {
      for (const [index, line] of lines.entries()) {
        if (!/error|fail|warn|panic|:\d/i.test(line))
          yield { start: index, end: index + 1, what: 'c' };
      }
    },
  };
  const filters = fc
    .shuffledSubarray([...DEFAULT_OUTPUT_FILTERS, greedy, careless], { minLength: 1 })
    .map((all) => all.map((filter) => ({ ...filter, applies: () => true })));
  const line = fc.oneof(
    fc.constantFrom(
      'error: no',
      'src/a.c:3:5: error: no',
      'warning: w',
      'panic: p',
      '    at f (a.js:1:2)',
    ),
    fc.constantFrom('   Compiling a v1.0.0', '=== RUN   TestA', '--- PASS: TestA (0.00s)', ''),
    fc.constantFrom(
      'gcc -O2 -c a.c',
      'Setting up tzdata (1) ...',
      '> Task :a:b',
      '✔ Service deployed',
    ),
    fc.constantFrom(
      'TAP version 13',
      'ok 1 - a',
      '1..3',
      ' RUN  v4.1.12 /srv',
      ' ✓ a.test.ts (3 tests) 5ms',
    ),
    fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replace(/[\r\n]/g, ' ')),
  );

  test('errors, what is before them and the end stay, in order, and counts are exact', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 70 }),
        filters,
        fc.boolean(),
        async (given, all, endedWell) => {
          const { shorten } = make({ filters: all, repeats: false });
          const { cleaned, minimized } = await shorten(given.join('\n'), 'x', endedWell);
          const shown = minimized.lines;
          const staying = mustStay(cleaned.lines, endedWell);
          let at = 0;
          for (const index of staying) {
            const found = minimized.numbers.indexOf(cleaned.numbers[index] ?? 0, at);
            expect(shown.slice(found, found + 1)).toEqual([cleaned.lines[index]]);
            at = found + 1;
          }
          const out = shown.map((each) => /^\[… ([\d,]+) lines? left out: /.exec(each)?.[1]);
          const counted = out.reduce((sum, each) => sum + Number(each ?? 1), 0);
          expect(counted).toBe(cleaned.lines.length);
        },
      ),
    );
  });
});

/** The rule as the docs say it, without the code's help. */
function mustStay(lines: readonly string[], endedWell: boolean): number[] {
  const marks = toEnd(findErrorLines(lines));
  const withText = lines.flatMap((line, index) => (line.trim() === '' ? [] : [index]));
  const before = withText.filter((index, position) => {
    const next = withText[position + 1];
    return next !== undefined && marks.subarray(index + 1, next + 1).includes(1);
  });
  const errors = [...marks.keys()].filter((index) => marks[index] === 1);
  const last = endedWell ? [] : withText.slice(-10);
  return [...new Set([...errors, ...before, ...last])].sort((one, other) => one - other);
}
