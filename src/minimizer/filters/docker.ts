import { createRuleFilter } from '../rules/rule-filter.js';

/** docker: layers in progress, finished steps. */
export const dockerFilter = createRuleFilter({
  name: 'docker',
  programs: ['docker', 'docker-compose', 'podman', 'buildah', 'buildctl', 'nerdctl'],
  noise: [
    { what: 'layers', pattern: /^#\d+ (?:extracting )?sha256:[\da-f]{12,}/ },
    {
      what: 'transfers',
      pattern:
        /^#\d+ (?:resolve \S+|transferring \S+ ?\S*:? .*|exporting .*|writing .*|naming to .*|unpacking .*|sending tarball) ?(?:[\d.]+s )?(?:done)?$/,
    },
    {
      what: 'layers',
      pattern:
        /^ ?[\da-f]{12}: (?:Pulling fs layer|Waiting|Verifying Checksum|Download complete|Pull complete|Already exists|Preparing|Layer already exists|Pushed|Mounted from \S+)\s*$/,
    },
    { what: 'layers', pattern: /^ ?[\da-f]{12}: (?:Downloading|Extracting|Pushing) +\[[=> ]*\]/ },
    { what: 'internal steps', pattern: /^#\d+ \[internal\] \S/ },
    { what: 'finished steps', pattern: /^#\d+ (?:DONE [\d.]+s|CACHED)$/ },
    {
      what: 'containers',
      pattern:
        /^(?: ---> (?:Running in )?[\da-f]{12}|Removing intermediate container [\da-f]{12})$/,
    },
    { what: 'cached steps', pattern: /^ ---> Using cache$/ },
    {
      what: 'containers',
      pattern:
        /^ (?:Container|Network|Volume) \S+ {2}(?:Creating|Created|Starting|Started|Stopping|Stopped|Removing|Removed|Running|Waiting|Healthy)\s*$/,
    },
  ],
});
