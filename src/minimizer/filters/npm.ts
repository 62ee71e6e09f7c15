import { createRuleFilter } from '../rules/rule-filter.js';

/** npm, pnpm and yarn: requests, progress, funding. */
export const npmFilter = createRuleFilter({
  name: 'npm',
  programs: ['npm', 'npx', 'pnpm', 'yarn', 'bun'],
  noise: [
    { what: 'requests', pattern: /^npm (?:http|info) (?:fetch \S+ [23]\d\d|cache) \S/ },
    { what: 'npm log', pattern: /^npm (?:sill|silly|verb|verbose|timing|info) / },
    { what: 'funding', pattern: /^\d+ packages? (?:is|are) looking for funding$/ },
    { what: 'funding', pattern: /^ {2}run `npm fund` for details$/ },
    { what: 'progress', pattern: /^Progress: resolved \d+, reused \d+, downloaded \d+, added \d+/ },
    { what: 'progress', pattern: /^\[\d\/\d\] (?:\S+ {2})?[A-Z][a-z]+ing [a-z ]+\.\.\.$/ },
    { what: 'progress', pattern: /^➤ YN0000: (?:[│┌└]|· Yarn \d)/ },
    { what: 'packages added', pattern: /^➤ YN0085: │ \+ / },
    { what: 'progress', pattern: /^Packages: \+\d+(?: -\d+)?$|^\+{3,}-*$/ },
    {
      what: 'places',
      pattern:
        /^(?:Packages are (?:hard linked|copied|cloned) from the content-addressable store | {2}(?:Content-addressable|Virtual) store is at: )/,
    },
  ],
});
