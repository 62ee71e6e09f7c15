import { createRuleFilter } from '../rules/rule-filter.js';

/** The prefix of a build's step may come first: `#7 3.705 `. */
const after = (pattern: string): RegExp => new RegExp(`^(?:#\\d+ [\\d.]+ )?(?:${pattern})`);

/** apt and dpkg: fetching and unpacking. */
export const aptFilter = createRuleFilter({
  name: 'apt',
  programs: ['apt', 'apt-get', 'aptitude', 'dpkg', 'docker', 'podman', 'buildah'],
  noise: [
    { what: 'downloads', pattern: after('(?:Get|Hit|Ign):\\d+ \\S+ ') },
    {
      what: 'package lists',
      pattern: after(
        'Reading package lists\\.\\.\\.|Building dependency tree|Reading state information',
      ),
    },
    {
      what: 'packages',
      pattern: after(
        'Selecting previously unselected package |Preparing to unpack |Unpacking \\S+ \\(|Setting up \\S+ \\(|Processing triggers for ',
      ),
    },
    { what: 'packages', pattern: after('\\(Reading database \\.\\.\\.') },
  ],
});
