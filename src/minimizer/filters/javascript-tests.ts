import { createLineFilter } from '../line-filter.js';

/** node:test, vitest, jest, mocha, and others with TAP output: passed tests. */
export const javascriptTestsFilter = createLineFilter({
  name: 'javascript-tests',
  programs: ['node', 'vitest', 'jest', 'mocha', 'ava', 'tap', 'prove', 'playwright', 'deno'],
  noise: [
    { what: 'passed tests', pattern: /^\s*[✓✔√] \S/u },
    { what: 'passed tests', pattern: /^\s*ok \d+(?: -)? \S/ },
    { what: 'passed tests', pattern: /^PASS \S+/ },
    { what: 'TAP details', pattern: /^# Subtest: / },
    {
      what: 'TAP details',
      pattern: /^\s+(?:---|\.\.\.|duration_ms: [\d.]+|type: '(?:test|suite)')$/,
    },
  ],
});
