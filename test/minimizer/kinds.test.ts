import { describe, expect, test } from 'vitest';
import { make } from '../support/minimizer.js';

const many = (line: (index: number) => string, count = 20): string[] =>
  Array.from({ length: count }, (_, index) => line(index));

/** What is shown of these lines, printed by this command. */
async function shown(lines: readonly string[], command: string): Promise<string[]> {
  const { text } = await make().shorten(lines.join('\n'), command, true);
  return text.split('\n');
}

describe('W4: a mark of success is a passed test only under a test runner', () => {
  const deployed = [
    '✔ Service deployed to stack shop-prod (214s)',
    '✔ Migrated 14 tables',
    '✓ Production: https://shop-4f2a.example.com [12s]',
    '✓ Inspect: https://example.com/shop/4f2a [1s]',
    '  Routes of the service',
    '    ✓ Route GET /cart, which shows what is in the cart of the user, 12ms',
    '    ✓ Route GET /stock, which shows what is there of each article, 12ms',
    '    ✓ Route PUT /order, which orders what is in the cart of the user, 12ms',
    'ok 1 database reachable',
    'ok 2 cache reachable',
    'PASS https://shop-4f2a.example.com/health',
  ];

  test.each(['npm run deploy', './deploy.sh', 'npx serverless deploy', 'node deploy.js'])(
    '%s',
    async (command) => expect(await shown(deployed, command)).toEqual(deployed),
  );

  const runs: Readonly<Record<string, readonly string[]>> = {
    vitest: [
      ' RUN  v4.1.12 /srv/shop',
      ...many((index) => ` ✓ test/a${index}.test.ts (6 tests) 4ms`),
      ' Test Files  20 passed (20)',
      '   Duration  1.75s (transform 99ms, setup 0ms)',
    ],
    jest: [
      ...many((index) => `PASS test/a${index}.test.js\n  ✓ adds (2 ms)`)
        .join('\n')
        .split('\n'),
      'Test Suites: 20 passed, 20 total',
      'Ran all test suites.',
    ],
    mocha: ['  cart', ...many((index) => `    ✔ adds up ${index}`), '', '  20 passing (9ms)'],
    'node:test': [...many((index) => `✔ adds up ${index} (0.402541ms)`), 'ℹ tests 20', 'ℹ pass 20'],
    tap: ['TAP version 13', ...many((index) => `ok ${index} - adds`), '1..20', '# tests 20'],
    playwright: [
      'Running 20 tests using 1 worker',
      ...many((index) => `  ✓  ${index + 1} [chromium] › shop.spec.ts:3:5 › adds up (1.2s)`),
      '',
      '  20 passed (3.1s)',
    ],
  };

  test.each(Object.entries(runs))(
    '%s’ are left out, and what stands around it stays',
    async (_, run) => {
      const lines = await shown([...deployed, ...run, ...deployed], 'npm run test-and-deploy');
      expect(lines.join('\n')).toMatch(/\[… \d+ lines left out: .*passed tests/);
      expect(lines.slice(-deployed.length)).toEqual(deployed);
      expect(lines.slice(0, deployed.length)).toEqual(deployed);
    },
  );

  test('indented ones at the end of an output', async () => {
    const routes = many((index) => `    ✓ Route GET /part${index}, as it was before`);
    const lines = ['Deploying', '', '  Routes of the service', ...routes];
    expect(await shown(lines, 'npm run deploy')).toEqual(lines);
  });

  test('what a script of npm printed before those of node:test stays', async () => {
    const steps = many((index) => `✔ Copied part ${index} (${index}.25ms)`);
    const run = ['> node --test', '', ...(runs['node:test'] ?? [])];
    const lines = await shown([...steps, ...run], 'npm run copy && npm test');
    expect(lines.slice(0, steps.length)).toEqual(steps);
    expect(lines.join('\n')).toContain('[… 20 lines left out: passed tests …]');
  });

  test.each(Object.entries(runs))('%s, its output without a beginning', async (name, run) => {
    const lines = await shown(run.slice(name === 'jest' ? 2 : 1), 'npm test | tail -n 30');
    expect(lines.join('\n')).toMatch(/\[… \d+ lines left out: .*passed tests/);
  });
});

describe('lines left out are named as what they were', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'W24: XFAIL',
      'tests that failed as expected',
      many((index) => `tests/test_a.py::test_${index} XFAIL (to be decided) [ 12%]`),
    ],
    ['skipped tests', 'skipped tests', many((index) => `tests/a.py::test_${index} SKIPPED [ 12%]`)],
    ['passed tests', 'passed tests', many((index) => `tests/a.py::test_${index} PASSED [ 12%]`)],
    [
      'passed and skipped ones in a line',
      'passed and skipped tests',
      many((index) => `tests/test_a${index}.py ...s... [ 12%]`),
    ],
    [
      'W24: XFAIL in a line',
      'tests that passed, were skipped, or failed as expected',
      many((index) => `tests/test_a${index}.py ..xs... [ 12%]`),
    ],
  ])('%s of pytest', async (_, what, lines) => {
    const header = '============ test session starts ============';
    const summary = '====== 20 passed in 0.18s ======';
    expect(await shown([header, ...lines, summary], 'pytest -v')).toEqual([
      header,
      `[… 20 lines left out: ${what} …]`,
      summary,
    ]);
  });

  test('rows of dots are of pytest only where it says so', async () => {
    const lines = many((index) => '.'.repeat(20 + index));
    expect(await shown(lines, 'make')).toEqual(lines);
  });

  test('W21: a test of Playwright that failed, and one that passed again, are none', async () => {
    const header = 'Running 40 tests using 2 workers';
    const passed = many((index) => `  ✓  ${index + 1} a.spec.ts:3:5 › adds (1.2s)`);
    const others = [
      '  ✘  21 [chromium] › a.spec.ts:9:5 › pays (30.0s)',
      ...many((i) => `  ✓  ${22 + i} [chromium] › a.spec.ts:${i}:5 › pays (retry #1) (2.1s)`),
      '  -  43 [chromium] › a.spec.ts:12:5 › ships',
    ];
    const lines = await shown(
      [header, ...passed, ...others, '  1 flaky', '  39 passed (1m)'],
      'npx playwright test',
    );
    for (const line of others) expect(lines).toContain(line);
    expect(lines).toContain('[… 19 lines left out: passed tests …]');
    expect(lines.join('\n').match(/left out/g)).toHaveLength(1);
  });

  test('blank lines between lines left out are counted as such', async () => {
    const lines = many((index) => `Requirement already satisfied: part${index}\n`)
      .join('\n')
      .split('\n');
    expect(await shown(lines, 'pip install x')).toEqual([
      '[… 39 lines left out: requirements already satisfied (20), blank lines (19) …]',
      '',
    ]);
  });
});

describe('W21: noise of', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'wget',
      'wget https://example.com/a',
      many((i) => ` ${50 * i}K .......... .......... 12%  397M 0s`),
    ],
    [
      'maven',
      'mvn test',
      many((i) => `[INFO] Downloading from central: https://example.com/${i}.pom`),
    ],
    ['gradle', './gradlew build', many((i) => `> Task :part${i}:compileJava UP-TO-DATE`)],
    ['terraform', 'terraform plan', many((i) => `aws_x.a[${i}]: Refreshing state... [id=i-${i}]`)],
    [
      'ansible',
      'ansible-playbook site.yml',
      [...many((i) => `TASK [step ${i}] ***********\nok: [web1]\n`), 'PLAY RECAP ****']
        .join('\n')
        .split('\n'),
    ],
    [
      'vite',
      'vite build',
      [
        'vite v8.4.0 building client environment for production...',
        ...many((i) => `dist/assets/a${i}-DxjIbsQ7.js   0.09 kB │ gzip: 0.10 kB`),
        '✓ built in 181ms',
      ],
    ],
  ])('%s', async (_, command, lines) => {
    const left = await shown(lines, command);
    expect(left.length).toBeLessThan(5);
    expect(left.join('\n')).toMatch(/\[… (?:19|20|21|39|59|60) lines left out: /);
  });
});

describe('what looks like noise of a program, and is not', () => {
  test.each<[string, readonly string[]]>([
    ['names of files', many((i) => `log/app${i}.log`).concat(many((i) => `net/config/a${i}`))],
    ['words between colons', many((i) => `:part${i}`)],
    ['words of success', many(() => 'PASS').flatMap((word, i) => [word, `step ${i} is done`])],
    ['files that are worked on', many((i) => `Processing ./data/a${i}.csv`)],
    [
      'versions',
      ['openjdk version "17.0.15" 2025-04-15', 'OpenJDK Runtime Environment (build 17)'],
    ],
    ['messages of a program', many((i) => `DEBUG part ${i}: 200 OK in 12 ms`)],
    ['resources of which no end is told', many((i) => `queue${i}: Creating...`)],
  ])('%s', async (_, lines) => {
    expect(await shown(lines, './build.sh')).toEqual(lines);
    expect(await shown(lines, 'npm run report')).toEqual(lines);
  });
});
