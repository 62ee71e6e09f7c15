import { createRuleFilter } from '../../rules/rule-filter.js';
import { markSections, type Section } from '../../rules/section.js';
import { passedSuites } from './passed-suites.js';

/** Mocha has no header: it begins with the title of a suite, which may be any text, but is indented. */
const RUN: Section = {
  begins: /^ {2}[^\s✓✔√].*$/u,
  breaks: /^\S/,
  ends: /^ {2}\d+ passing \([\d.]+m?s\)$/,
  mustEnd: true,
};
const PASSED = /^ {2,}[✓✔√] \S/u;

/** mocha: passed suites and tests. */
export const mochaFilter = createRuleFilter({
  name: 'mocha',
  programs: ['mocha', 'nyc', 'c8', 'node', 'nx', 'turbo'],
  noise: [{ what: 'passed tests', pattern: PASSED, within: RUN }],
  more(lines) {
    const marks = markSections(lines, RUN);
    if (!marks.includes(1)) return new Map();
    return passedSuites(lines, /^ {2}.*\S/, PASSED, (index) => marks[index] === 1);
  },
});
