import { createRuleFilter } from '../../rules/rule-filter.js';
import type { Section } from '../../rules/section.js';

const RUN: Section = {
  begins: /^ *(?:RUN|DEV) {2}v\d+\.\d+/,
  ends: /^ *Duration {2}[\d.]+m?s/,
};

/** vitest: passed files and tests. */
export const vitestFilter = createRuleFilter({
  name: 'vitest',
  programs: ['vitest', 'node', 'nx', 'turbo'],
  noise: [{ what: 'passed tests', pattern: /^ *[✓√] \S/u, within: RUN }],
});
