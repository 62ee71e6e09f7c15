import { createRuleFilter } from '../rules/rule-filter.js';

const START =
  /^(?<address>\S.*): (?:Creating|Modifying|Destroying|Reading|Refreshing state|Opening|Closing|Provisioning with '.*')\.\.\.(?: \[id=.*\])?$/;
const STILL = /^(?<address>\S.*): Still \w+\.\.\. \[.*elapsed\]$/;
const END = /^(?<address>\S.*): (?:\w+ complete after|Refreshing state\.\.\.)/;

/** Finds what was begun and is not complete: one of it hangs, or failed. */
function unfinishedChanges(lines: readonly string[]): Set<number> {
  const open = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const begun = (START.exec(line) ?? STILL.exec(line))?.groups?.address;
    if (begun !== undefined) open.set(begun, [...(open.get(begun) ?? []).slice(0, 1), index]);
    const ended = END.exec(line)?.groups?.address;
    if (ended !== undefined) open.delete(ended);
  }
  return new Set([...open.values()].flat());
}

/** terraform and OpenTofu: refreshes, and starts of changes that are complete. */
export const terraformFilter = createRuleFilter({
  name: 'terraform',
  programs: ['terraform', 'tofu', 'terragrunt'],
  noise: [
    {
      what: 'refreshes',
      pattern: /^\S.*: (?:Refreshing state\.\.\.|Reading\.\.\.|Read complete after \d)/,
    },
    {
      what: 'starts of changes',
      pattern:
        /^\S.*: (?:Creating|Modifying|Destroying|Opening|Closing|Provisioning with|Still \w+|Executing)(?:: |\.\.\.| ')/,
    },
    {
      what: 'provider installs',
      pattern: /^- (?:Finding|Installing|Using previously-installed) \S/,
    },
  ],
  except: unfinishedChanges,
});
