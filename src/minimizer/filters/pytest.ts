import { createLineFilter } from '../line-filter.js';

/** pytest: passed and skipped tests. */
export const pytestFilter = createLineFilter({
  name: 'pytest',
  programs: ['pytest', 'py.test', 'tox', 'nox', 'coverage'],
  noise: [
    { what: 'passed tests', pattern: /^\S+\.py [.sx]+(?: +\[ *\d+%\])?$/ },
    { what: 'passed tests', pattern: /^[.sx]{8,}(?: +\[ *\d+%\])?$/ },
    { what: 'passed tests', pattern: /^\S+::\S.* (?:PASSED|XFAIL)(?: +\(.*\))?(?: +\[ *\d+%\])?$/ },
    { what: 'skipped tests', pattern: /^\S+::\S.* SKIPPED(?: +\(.*\))?(?: +\[ *\d+%\])?$/ },
  ],
});
