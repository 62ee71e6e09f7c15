import { createRuleFilter } from '../rules/rule-filter.js';
import type { Section } from '../rules/section.js';

const BUILD: Section = {
  begins: /^vite v\d+\.\d+\S* building /,
  ends: /^✓ built in [\d.]+m?s$/u,
};

/** Vite: its steps, and the files that it wrote. */
export const viteFilter = createRuleFilter({
  name: 'vite',
  programs: ['vite', 'vite-node', 'astro', 'nx', 'turbo'],
  noise: [
    {
      what: 'steps',
      pattern: /^(?:transforming|rendering chunks|computing gzip size) ?(?:\(\d+\))?\.\.\./,
      within: BUILD,
    },
    {
      what: 'files written',
      pattern:
        /^(?=\S*\/)\S+ +[\d.,]+ [kM]?B(?: +│ gzip: +[\d.,]+ [kM]?B)?(?: +│ map: +[\d.,]+ [kM]?B)?$/u,
      within: BUILD,
    },
  ],
});
