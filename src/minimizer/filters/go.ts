import { createLineFilter } from '../line-filter.js';

/** go: passed tests, fetched modules. */
export const goFilter = createLineFilter({
  name: 'go',
  programs: ['go', 'gotest', 'gotestsum'],
  noise: [
    { what: 'test starts', pattern: /^=== (?:RUN|PAUSE|CONT|NAME) +\S/ },
    { what: 'passed tests', pattern: /^\s*--- PASS: \S/ },
    { what: 'packages without tests', pattern: /^\?? +\t?\S+\t\[no test files\]$/ },
    { what: 'packages without tests', pattern: /^\t\S+\t+coverage: 0\.0% of statements$/ },
    { what: 'cached packages', pattern: /^ok +\t\S+\t\(cached\)/ },
    { what: 'downloads', pattern: /^go: (?:downloading|finding|extracting) \S+ v/ },
  ],
});
