import { createRuleFilter } from '../../rules/rule-filter.js';
import { markSections, type Section } from '../../rules/section.js';
import { passedSuites } from './passed-suites.js';

const RUN: Section = {
  begins: /^(?:PASS|FAIL) \S+\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?$/,
  ends: /^(?:Ran all test suites|Time: +[\d.]+ m?s)/,
};
const PASSED = /^ +[✓√] \S/u;
const FILE = /^PASS \S+/;

/** jest: passed files, suites and tests. */
export const jestFilter = createRuleFilter({
  name: 'jest',
  programs: ['jest', 'react-scripts', 'node', 'nx', 'turbo'],
  noise: [
    { what: 'passed tests', pattern: PASSED, within: RUN },
    { what: 'passed files', pattern: FILE, within: RUN },
  ],
  more(lines) {
    const marks = markSections(lines, RUN);
    if (!marks.includes(1)) return new Map();
    return passedSuites(lines, /^ {2}.*[^\s:.]$/, PASSED, (index) => {
      return marks[index] === 1 && !FILE.test(lines[index] ?? '');
    });
  },
});
