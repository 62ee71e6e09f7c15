import { createRuleFilter } from '../rules/rule-filter.js';

/** curl: the head of its table of progress. */
export const curlFilter = createRuleFilter({
  name: 'curl',
  programs: ['curl'],
  noise: [
    { what: 'progress', pattern: /^ {2}% Total {4}% Received % Xferd {2}Average Speed/ },
    { what: 'progress', pattern: /^ +Dload {2}Upload {3}Total {3}Spent {4}Left {2}Speed$/ },
    { what: 'progress', pattern: /^ *\d+ +\S+ +0 +0 +0 +0 +0 +0 +(?:\S+ +){3}0$/ },
    { what: 'data', pattern: /^[{}] \[\d+ bytes data\]$/ },
  ],
});
