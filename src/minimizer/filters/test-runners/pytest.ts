import { createRuleFilter } from '../../rules/rule-filter.js';
import type { Section } from '../../rules/section.js';

/** The summary of `-q` has no rules around it, and no header above it. */
const RUN: Section = {
  begins: /^=+ test session starts =+$/,
  ends: /^(?:=+ )?\d+ (?:passed|failed|skipped|deselected|xfailed|xpassed|warnings?|errors?)\b.* in [\d.]+s/,
};

/** pytest: tests that passed, were skipped, or failed as was expected. */
export const pytestFilter = createRuleFilter({
  name: 'pytest',
  programs: ['pytest', 'py.test', 'tox', 'nox', 'coverage'],
  noise: [
    { what: 'passed tests', pattern: /^\S+\.py \.+(?: +\[ *\d+%\])?$/, within: RUN },
    { what: 'passed tests', pattern: /^\.{8,}(?: +\[ *\d+%\])?$/, within: RUN },
    {
      what: 'passed and skipped tests',
      pattern: /^\S+\.py [.s]+(?: +\[ *\d+%\])?$/,
      within: RUN,
    },
    { what: 'passed and skipped tests', pattern: /^[.s]{8,}(?: +\[ *\d+%\])?$/, within: RUN },
    {
      what: 'tests that passed, were skipped, or failed as expected',
      pattern: /^(?:\S+\.py [.sx]+|[.sx]{8,})(?: +\[ *\d+%\])?$/,
      within: RUN,
    },
    { what: 'passed tests', pattern: /^[^\s:]+::\S.* PASSED(?: +\[ *\d+%\])?$/, within: RUN },
    {
      what: 'tests that failed as expected',
      pattern: /^[^\s:]+::\S.* XFAIL(?: +\(.*\))?(?: +\[ *\d+%\])?$/,
      within: RUN,
    },
    {
      what: 'skipped tests',
      pattern: /^[^\s:]+::\S.* SKIPPED(?: +\(.*\))?(?: +\[ *\d+%\])?$/,
      within: RUN,
    },
  ],
});
