import { createRuleFilter } from '../rules/rule-filter.js';

/** wget: how far a download is, and how it began. */
export const wgetFilter = createRuleFilter({
  name: 'wget',
  programs: ['wget'],
  noise: [
    {
      what: 'progress',
      pattern: /^ *\d+[KM] [ .,]+\d+% +[\d.,]+[KMGT]?(?: [\dhms.]+|=[\dhms.]+)?$/,
    },
    { what: 'progress', pattern: /^ *\d+[KM] [ .,]+ \d[\d.,]*[KMGT]?(?:=[\dhms.]+)?$/ },
    { what: 'connections', pattern: /^Resolving \S+ \(\S+\)\.\.\. [\d.:a-f, ]+$/ },
    { what: 'connections', pattern: /^Connecting to \S.*\.\.\. connected\.$/ },
    { what: 'connections', pattern: /^Reusing existing connection to / },
  ],
});
