import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { savingsTable } from '../../scripts/minimizer/savings.mjs';
import { tokensOf } from '../../scripts/minimizer/tokens.mjs';
import { DEFAULT_OUTPUT_FILTERS } from '../../src/minimizer/default-filters.js';
import { findErrorLines } from '../../src/minimizer/error-lines.js';
import { toText } from '../../src/minimizer/numbered-text.js';
import { createMinimizer } from '../../src/minimizer/options.js';
import { toEnd } from '../../src/minimizer/steps.js';
import { read } from '../support/house.js';
import { ALL_RECORDINGS, PROGRAMS, RECORDINGS, type Recording } from '../support/recordings.js';

async function shorten({ text: raw, command, exitCode }: Recording) {
  const warnings: string[] = [];
  const minimizer = createMinimizer(true, (text) => warnings.push(text));
  const result = await minimizer?.minimize(raw, command, exitCode === 0);
  if (result === undefined) throw new Error('expected a minimizer');
  expect(warnings).toEqual([]);
  return { cleaned: result.cleaned.lines, text: toText(result.minimized) };
}

test('every recording is tried, and every program has one that failed', () => {
  const listed = ALL_RECORDINGS.map(({ name }) => `${name}.txt`);
  const files = PROGRAMS.flatMap((program) =>
    readdirSync(join(RECORDINGS, program))
      .filter((name) => name.endsWith('.txt'))
      .map((name) => `${program}/${name}`),
  );
  expect(listed.sort()).toEqual(files.sort());
  const failed = ALL_RECORDINGS.filter(({ exitCode }) => exitCode !== 0);
  expect([...new Set(failed.map(({ program }) => program))]).toEqual(PROGRAMS);
  // A failure says why.
  expect(failed.filter(({ mustStay }) => mustStay.length === 0)).toEqual([]);
});

test.each(DEFAULT_OUTPUT_FILTERS)('the filter $name leaves out lines of a recording', (filter) => {
  const isShorter = ALL_RECORDINGS.some(({ command, text }) => {
    if (filter.applies?.(command) === false) return false;
    const lines = text.split(/[\r\n]+/);
    return [...filter.filter(lines, () => false)].length > 0;
  });
  expect(isShorter).toBe(true);
});

test.each(DEFAULT_OUTPUT_FILTERS)('docs/minimizer.md has the filter $name', ({ name }) => {
  expect(read('docs/minimizer.md')).toContain(`| ${name} |`);
});

describe.each(ALL_RECORDINGS)('$name', (recording) => {
  test('every line about an error is there', async () => {
    const { cleaned, text } = await shorten(recording);
    const lines = text.split('\n');
    for (const line of recording.mustStay) expect(lines).toContain(line);
    const marks = toEnd(findErrorLines(cleaned));
    // As many, and in this order, each with the line before it.
    let at = 0;
    for (const [index, line] of cleaned.entries()) {
      const isKept = marks[index] === 1 || (marks[index + 1] === 1 && line.trim() !== '');
      if (!isKept) continue;
      const found = lines.indexOf(line, at);
      const isRepeated = lines.some((each) => /^\[… the .* above .* …\]$/.test(each));
      if (found < 0 && isRepeated && lines.includes(line)) continue;
      expect(found, `${line} is missing after line ${at}`).toBeGreaterThanOrEqual(at);
      at = found + 1;
    }
  });

  test('only noise is left out', async () => {
    const { text } = await shorten(recording);
    await expect(text).toMatchFileSnapshot(join(RECORDINGS, 'shown', `${recording.name}.txt`));
  });
});

test('docs/minimizer.md has the tokens saved by program', () => {
  const page = join(RECORDINGS, '../../../docs/minimizer.md');
  const [before = '', rest = ''] = read('docs/minimizer.md').split('<!-- savings -->\n');
  const [, after = ''] = rest.split('<!-- end of savings -->');
  const made = `${before}<!-- savings -->\n${savingsTable()}\n<!-- end of savings -->${after}`;
  return expect(made).toMatchFileSnapshot(page);
});

describe('tokens', () => {
  const saved = async (recordings: readonly Recording[]) => {
    let before = 0;
    let after = 0;
    for (const recording of recordings) {
      before += tokensOf(recording.text);
      after += tokensOf((await shorten(recording)).text);
    }
    return 1 - after / before;
  };

  test('at least 35 % of them are saved over all recordings', async () => {
    expect(await saved(ALL_RECORDINGS)).toBeGreaterThanOrEqual(0.35);
  });

  test('and without those of which most are saved', async () => {
    const others = ALL_RECORDINGS.filter(({ text }) => text.length < 20_000);
    expect(await saved(others)).toBeGreaterThanOrEqual(0.35);
  });
});
