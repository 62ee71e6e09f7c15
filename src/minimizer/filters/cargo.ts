import { createRuleFilter } from '../rules/rule-filter.js';

/** cargo: fetching, compiling, passed tests. */
export const cargoFilter = createRuleFilter({
  name: 'cargo',
  programs: ['cargo', 'cross', 'wasm-pack', 'maturin'],
  noise: [
    {
      what: 'crates',
      pattern: /^ *(?:Compiling|Checking|Documenting|Fresh|Dirty|Building) \S+ v\d/,
    },
    { what: 'downloads', pattern: /^ *(?:Downloading|Downloaded) \S/ },
    { what: 'downloads', pattern: /^ *(?:Updating \S+ index|Locking \d+ packages|Adding \S+ v\d)/ },
    { what: 'waits', pattern: /^ *Blocking waiting for file lock on / },
    { what: 'passed tests', pattern: /^test \S.* \.\.\. ok$/ },
    { what: 'passed tests', pattern: /^ +PASS \[ *[\d.]+s\] / },
  ],
});
