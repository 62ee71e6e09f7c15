import { createRuleFilter } from '../rules/rule-filter.js';

/** git: what its progress comes to. */
export const gitFilter = createRuleFilter({
  name: 'git',
  programs: ['git'],
  noise: [
    {
      what: 'progress',
      pattern:
        /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Unpacking|Updating|Filtering|Checking) (?:objects|deltas|files|content): /,
    },
    { what: 'progress', pattern: /^Delta compression using up to \d+ threads?$/ },
    { what: 'progress', pattern: /^(?:remote: )?Total \d+ \(delta \d+\), reused \d+/ },
  ],
});
