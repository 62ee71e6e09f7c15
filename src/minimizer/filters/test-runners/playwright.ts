import { createRuleFilter } from '../../rules/rule-filter.js';
import type { Section } from '../../rules/section.js';

const RUN: Section = {
  begins: /^Running \d+ tests? using \d+ workers?/,
  ends: /^ {2}\d+ passed \([\d.]+m?s\)$/,
};

/** On a terminal without colours each test has a line when it begins, too. */
const START = /^ {2,}(?<number>\d+) (?:\[[^\]]+\] › )?\S+:\d+:\d+ › /u;
const END = /^ {2}(?:✓|√|ok|✘|x|-) +(?<number>\d+) /u;

/** Finds the starts of tests of which no end is told: one of them hangs. */
function unfinishedTests(lines: readonly string[]): Set<number> {
  const open = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const started = START.exec(line)?.groups?.number;
    if (started !== undefined) open.set(started, index);
    const ended = END.exec(line)?.groups?.number;
    if (ended !== undefined) open.delete(ended);
  }
  return new Set(open.values());
}

/** Playwright: passed tests, and how far it is. */
export const playwrightFilter = createRuleFilter({
  name: 'playwright',
  programs: ['playwright'],
  noise: [
    {
      what: 'passed tests',
      // One that had failed before says more.
      pattern: /^ *(?:✓|√|ok) +\d+ (?!.*\(retry #\d+\))(?:\[[^\]]+\] › )?\S+:\d+:\d+ › /u,
      within: RUN,
    },
    { what: 'test starts', pattern: START, within: RUN },
    { what: 'passed tests', pattern: /^·{8,}$/u, within: RUN },
    { what: 'progress', pattern: /^\[\d+\/\d+\] (?:\[[^\]]+\] › )?\S+:\d+:\d+ › /u, within: RUN },
  ],
  except: unfinishedTests,
});
