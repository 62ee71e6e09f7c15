import { describe, expect, test } from 'vitest';
import {
  createLineFilter,
  DEFAULT_OUTPUT_FILTERS,
  type MinimizerOptions,
  type OutputFilter,
} from '../../src/index.js';
import { findErrorLines } from '../../src/minimizer/error-lines.js';
import { createMinimizer } from '../../src/minimizer/options.js';
import { toEnd } from '../../src/minimizer/steps.js';
import { make, noise, omitting } from '../support/minimizer.js';
import { fc } from '../support/properties.js';
import { ALL_RECORDINGS } from '../support/recordings.js';

describe('lines left out', () => {
  const filter = createLineFilter({
    name: 'mine',
    noise: [{ what: 'noise', pattern: /^some noise/ }],
  });

  test('are reported by number and kind', async () => {
    const text = ['first', ...noise(1200), 'last', ''].join('\n');
    const result = await make({ filters: [filter] }).shorten(text);
    expect(result.text).toBe('first\n[… 1,200 lines left out: noise …]\nlast\n');
    expect(result.filters).toEqual(['mine']);
    expect(result.minimized.numbers).toEqual([1, 2, 1202]);
  });

  test('of several kinds are reported together', async () => {
    const other = createLineFilter({
      name: 'other',
      noise: [{ what: 'chatter', pattern: /^some chatter/ }],
    });
    const text = [...noise(3), ...noise(5, 'chatter'), ...noise(1), 'last'].join('\n');
    const result = await make({ filters: [filter, other] }).shorten(text);
    expect(result.text).toBe('[… 9 lines left out: chatter (5), noise (4) …]\nlast');
    expect(result.filters).toEqual(['mine', 'other']);
  });

  test('stay when the marker would be as long', async () => {
    const { shorten } = make({ filters: [omitting({ start: 0, end: 2, what: 'letters' })] });
    expect(await shorten('a\nb\nc')).toMatchObject({ text: 'a\nb\nc', filters: [] });
  });

  test('are only those of a filter: other text stays unchanged, byte for byte', async () => {
    const { shorten } = make();
    const text = 'a\tb  \n\n\n中\n  c';
    expect(await shorten(text, 'npm test')).toMatchObject({ text, filters: [] });
  });
});

describe('lines that are repeated', () => {
  const line = 'a line of some length that comes again';

  test('are counted', async () => {
    const { shorten } = make();
    const result = await shorten(`x\n${`${line}\n`.repeat(38)}y\n`);
    expect(result.text).toBe(`x\n${line}\n[… the line above 37 more times …]\ny\n`);
    expect(result.filters).toEqual(['repeats']);
    expect(result.minimized.numbers).toEqual([1, 2, 3, 40]);
  });

  test('are folded in blocks too', async () => {
    const { shorten } = make();
    const block = 'retrying the connection\n  in 5 seconds\n';
    expect((await shorten(block.repeat(10))).text).toBe(
      `${block}[… the 2 lines above 9 more times …]\n`,
    );
  });

  test('about errors are folded as well, and one stays', async () => {
    const error = 'Error: connection refused by the database\n';
    expect((await make().shorten(error.repeat(5))).text).toBe(
      `${error}[… the line above 4 more times …]\n`,
    );
  });

  test('stay with the option off, or when they are short', async () => {
    const text = `${line}\n`.repeat(9);
    expect((await make({ repeats: false }).shorten(text)).text).toBe(text);
    expect((await make().shorten('\n\n\n\n}\n}\n}\n')).text).toBe('\n\n\n\n}\n}\n}\n');
  });
});

test('the built-in filters apply to their programs, however these are called', () => {
  const cargo = DEFAULT_OUTPUT_FILTERS.find(({ name }) => name === 'cargo');
  const for_ = (command: string) => cargo?.applies?.(command);
  for (const command of [
    'cargo test',
    'cd x && RUST_LOG=debug cargo +nightly test 2>&1 | tail -5',
    'sudo -E /usr/bin/cargo build',
    'timeout 60 cargo build',
    'make -j4',
    './ci.sh',
    'docker build .',
    '(cargo build)',
  ]) {
    expect(for_(command), command).toBe(true);
  }
  for (const command of ['cat cargo.log', 'git log --grep cargo', 'echo cargo', 'ls cargo']) {
    expect(for_(command), command).toBe(false);
  }
});

test.each([
  [{ filters: 3 }, 'minimizer.filters: expected an array, got 3'],
  [{ filters: [{ name: '' }] }, 'minimizer.filters[0].name: expected a name, got ""'],
  [{ filters: [{ name: 'a' }] }, 'minimizer.filters[0].filter: expected a function, got nothing'],
  [{ repeats: 1 }, 'minimizer.repeats: expected true or false, got 1'],
  [{ maxInputBytes: 0 }, 'minimizer.maxInputBytes: expected a whole number from 1, got 0'],
  [
    { maxInputBytes: 2 ** 40 },
    'minimizer.maxInputBytes: expected a whole number up to 67108864, got 1099511627776',
  ],
  [{ budgetMs: 5 }, 'minimizer.budgetMs: not known here'],
  ['yes', 'minimizer: expected true, false or options, got "yes"'],
])('an option that is not valid is refused: %j', (options, message) => {
  expect(() => createMinimizer(options as MinimizerOptions, () => {})).toThrow(message);
});

const lines = fc.oneof(
  fc.constantFrom('error: x', '  at f (a.js:1:2)', 'E   assert', 'warning: y', 'npm ERR! z'),
  fc.constantFrom(
    '   Compiling a v1.0.0',
    'test a ... ok',
    'Collecting x',
    '=== RUN   TestA',
    '#4 DONE 0.1s',
  ),
  fc.constantFrom('some line that is repeated quite often', '', '}', 'PASS a.test.js'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const texts = fc.array(lines, { maxLength: 80 }).map((all) => all.join('\n'));

describe('for any output and any order of filters', () => {
  const everything: OutputFilter = {
    name: 'everything',
    *filter(all, mustStay) {
      for (const index of all.keys()) {
        if (!mustStay(index)) yield { start: index, end: index + 1, what: 'everything' };
      }
    },
  };
  const orders = fc
    .shuffledSubarray([...DEFAULT_OUTPUT_FILTERS, everything], { minLength: 1 })
    .map((filters) => filters.map((filter) => ({ ...filter, applies: () => true })));

  test('lines about errors stay, at least once each, and all omissions are reported', async () => {
    await fc.assert(
      fc.asyncProperty(texts, orders, async (text, filters) => {
        const { shorten, warnings } = make({ filters });
        const { cleaned, text: shown, minimized } = await shorten(text);
        const marks = toEnd(findErrorLines(cleaned.lines));
        const kept = new Set(minimized.lines);
        for (const [index, line] of cleaned.lines.entries()) {
          if (marks[index] === 1) expect(kept).toContain(line);
        }
        expect(warnings).toEqual([]);
        expect(accountedFor(minimized.lines)).toBe(cleaned.lines.length);
        expect(shown.length).toBeLessThanOrEqual(text.length);
        expect([...minimized.numbers]).toEqual(minimized.numbers.toSorted((a, b) => a - b));
      }),
    );
  });
});

/** How many lines these stand for, by what their markers say. */
function accountedFor(shown: readonly string[]): number {
  let count = 0;
  for (const line of shown) {
    const out = /^\[… ([\d,]+) lines? left out: .* …\]$/.exec(line)?.[1];
    const again = /^\[… the (?:line|(\d+) lines) above (\d+) more times? …\]$/.exec(line);
    if (out !== undefined) count += Number(out.replaceAll(',', ''));
    else if (again !== null) count += Number(again[1] ?? 1) * Number(again[2]);
    else count += 1;
  }
  return count;
}

test('a megabyte does not block the event loop', async () => {
  const text = Array.from(
    { length: 20_000 },
    (_, i) => `\x1b[32mline ${i}\x1b[0m of ordinary text`,
  );
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  await make().shorten(text.join('\r\n'), 'make');
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

test.each([
  ['digits', '1'.repeat(1_000_000)],
  ['digits and dots', '1.'.repeat(500_000)],
  ['slashes', '/'.repeat(1_000_000)],
  ['quotes', '"'.repeat(1_000_000)],
  ['blanks', ' '.repeat(1_000_000)],
  ['options', '-a '.repeat(300_000)],
])('C8: a command of a megabyte takes no time: %s', async (_, command) => {
  const start = performance.now();
  await createMinimizer(true, () => {})?.minimize('a line\n', command, true);
  expect(performance.now() - start).toBeLessThan(1000);
});

test('B25: minimized output is never longer in bytes', async () => {
  const lines = fc.array(fc.constantFrom('aaaaaa', 'bbbbbbbbbbbbbbbb', 'ä', 'keep', ''), {
    maxLength: 12,
  });
  const minimizer = createMinimizer(
    {
      filters: [
        createLineFilter({
          name: 'x',
          noise: [{ what: 'ünnötig'.repeat(8), pattern: /^[abä]+$/ }],
        }),
      ],
    },
    () => {},
  );
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 20 }), async (texts, times) => {
      const text = texts.map((line) => `${line.repeat(times)}\n`).join('');
      const { minimized, cleaned } = (await minimizer?.minimize(text, 'x', true)) ?? {};
      const size = (made: typeof cleaned) => Buffer.byteLength(made?.lines.join('\n') ?? '');
      expect(size(minimized)).toBeLessThanOrEqual(size(cleaned));
    }),
  );
});

test('long outputs take time in proportion to their length', async () => {
  const part = ALL_RECORDINGS.map(({ text }) => text).join('\n');
  const timeOf = async (text: string): Promise<number> => {
    const start = performance.now();
    await make().shorten(text, 'npm test', false);
    return performance.now() - start;
  };
  await timeOf(part);
  const short = await timeOf(part);
  // 10 MB
  const long = await timeOf(part.repeat(17));
  // In proportion to its square it would take nearly 300 times as long.
  expect(long).toBeLessThan(Math.max(short, 100) * 100);
}, 120_000);

/** Lines that a pattern with two places for the same text would try for long. */
const HARD = fc
  .tuple(
    fc.constantFrom(
      '',
      'a.py ',
      'gcc ',
      '[1/2] ',
      '[INFO] ',
      'TASK [',
      ' 100K ',
      '  ✓ ',
      '#1 ',
      'a::',
    ),
    fc.constantFrom(
      '✓ ',
      ' ',
      '.',
      '-a ',
      ':a ',
      '] ',
      'a: ',
      '0 ',
      'a::',
      '[',
      '1',
      '/',
      '::',
      '(',
    ),
  )
  .map(([start, word]) => start + word.repeat(Math.floor(1900 / word.length)));

test.each(DEFAULT_OUTPUT_FILTERS)('the filter $name takes long for no line', (filter) => {
  fc.assert(
    fc.property(HARD, (line) => {
      const start = performance.now();
      expect([...filter.filter([line, `${line}x`], () => false)].length).toBeLessThan(3);
      expect(performance.now() - start).toBeLessThan(2000);
    }),
    { numRuns: 140 },
  );
});
