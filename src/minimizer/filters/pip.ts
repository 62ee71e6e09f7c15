import { createRuleFilter } from '../rules/rule-filter.js';

/** pip and uv: packages found, fetched and built. */
export const pipFilter = createRuleFilter({
  name: 'pip',
  programs: ['pip', 'pipx', 'uv', 'poetry'],
  noise: [
    { what: 'requirements already satisfied', pattern: /^Requirement already satisfied: / },
    { what: 'packages', pattern: /^Collecting [\w.-]+(?:\[[\w,.-]+\])?(?:[<>=!~;@ ].*)?$/ },
    { what: 'packages', pattern: /^Processing \S+\.(?:whl|tar\.gz)$/ },
    { what: 'sources', pattern: /^Looking in (?:indexes|links): / },
    {
      what: 'downloads',
      pattern: /^ {2}(?:Downloading|Using cached|Obtaining dependency information for) \S/,
    },
    { what: 'downloads', pattern: /^ *[━╸╺][━╸╺ ]{7,}[\d.]+(?:\/[\d.]+)? \S?[bB]/u },
    {
      what: 'builds',
      pattern:
        /^ {2}(?:Preparing metadata|Installing build dependencies|Getting requirements to build (?:wheel|editable)|Installing backend dependencies).*: (?:started|finished with status 'done')$/,
    },
    {
      what: 'builds',
      pattern:
        /^ {2}(?:Preparing metadata|Installing build dependencies|Getting requirements to build (?:wheel|editable)|Installing backend dependencies).*\.\.\. done$/,
    },
    { what: 'builds', pattern: /^ {2}(?:Created wheel for|Stored in directory:) / },
    {
      what: 'builds',
      pattern:
        /^ {2}Building wheel for \S+ \(.*\)(?:: (?:started|still running\.\.\.|finished with status 'done')|\.\.\. done)$/,
    },
    // uv
    {
      what: 'downloads',
      pattern: /^ ?(?:Downloading|Downloaded) [\w.-]+(?: \([\d.]+ ?[KMG]iB\))?$/,
    },
    { what: 'builds', pattern: /^ {3}(?:Building| {2}Built) \S+(?:==\S+| @ \S+)$/ },
    {
      what: 'uninstalls',
      pattern:
        /^ {2}(?: {2})?(?:Attempting uninstall|Found existing installation|Uninstalling|Successfully uninstalled)\b/,
    },
  ],
});
