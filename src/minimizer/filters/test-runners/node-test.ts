import { createRuleFilter } from '../../rules/rule-filter.js';
import { markSections, type Section } from '../../rules/section.js';
import { passedSuites } from './passed-suites.js';

/** What another script of npm or yarn printed before is not of these tests. */
const SPEC: Section = { breaks: /^[>$] \S/, ends: /^ℹ tests \d+$/u };
const TAP: Section = { begins: /^TAP version \d+$/, ends: /^(?:# (?:tests|fail) \d+|1\.\.\d+)$/ };
/** Its times tell a test from a program that says that it is done. */
const PASSED = /^ *✔ .* \(\d+\.\d+ms\)$/u;

/** node:test, and TAP of others: passed tests. */
export const nodeTestFilter = createRuleFilter({
  name: 'node:test',
  programs: ['node', 'tap', 'prove', 'ava', 'tape', 'nx', 'turbo'],
  noise: [
    { what: 'passed tests', pattern: PASSED, within: SPEC },
    { what: 'passed tests', pattern: /^\s*ok \d+(?: -)? \S/, within: TAP },
    { what: 'TAP details', pattern: /^\s*# Subtest: /, within: TAP },
    {
      what: 'TAP details',
      pattern: /^\s+(?:---|\.\.\.|duration_ms: [\d.]+|type: '(?:test|suite)'|1\.\.\d+)$/,
      within: TAP,
    },
  ],
  more(lines) {
    const marks = markSections(lines, SPEC);
    if (!marks.includes(1)) return new Map();
    return passedSuites(lines, /^ *▶ \S/u, PASSED, (index) => marks[index] === 1);
  },
});
