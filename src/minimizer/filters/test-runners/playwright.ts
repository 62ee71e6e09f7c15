import { createRuleFilter } from '../../rules/rule-filter.js';
import type { Section } from '../../rules/section.js';

const RUN: Section = {
  begins: /^Running \d+ tests? using \d+ workers?/,
  ends: /^ {2}\d+ passed \([\d.]+m?s\)$/,
};

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
    { what: 'passed tests', pattern: /^·{8,}$/u, within: RUN },
    { what: 'progress', pattern: /^\[\d+\/\d+\] (?:\[[^\]]+\] › )?\S+:\d+:\d+ › /u, within: RUN },
  ],
});
