import { createRuleFilter } from '../rules/rule-filter.js';

/** Maven: downloads, plugins that found nothing to do, classes of tests that passed. */
export const mavenFilter = createRuleFilter({
  name: 'maven',
  programs: ['mvn', 'mvnw', 'mvnd'],
  noise: [
    { what: 'downloads', pattern: /^(?:\[INFO\] )?Download(?:ing|ed) (?:from|to) \S+: / },
    { what: 'downloads', pattern: /^(?:\[INFO\] )?Upload(?:ing|ed) to \S+: / },
    { what: 'downloads', pattern: /^Progress \(\d+\): / },
    { what: 'blank lines', pattern: /^\[INFO\] *$/ },
    { what: 'rules', pattern: /^\[INFO\] -{20,}$/ },
    { what: 'plugins', pattern: /^\[INFO\] -{2,3} \S+(?::|-plugin:)\S+ \(\S+\) @ \S+ -{2,3}$/ },
    {
      what: 'plugins',
      pattern:
        /^\[INFO\] (?:Nothing to compile - |skip non existing resourceDirectory |Using '\S+' encoding to copy |Copying \d+ resources?\b|Using auto detected provider |Scanning for projects\.\.\.|Changes detected - recompiling|Recompiling the module because of )/,
    },
    { what: 'test starts', pattern: /^\[INFO\] Running \S+Tests?$/ },
    {
      what: 'passed tests',
      pattern:
        /^\[INFO\] Tests run: \d+, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: .* in \S+$/,
    },
    {
      what: 'passed tests',
      pattern:
        /^\[INFO\] Tests run: \d+, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: \S+ s -- in \S+$/,
    },
  ],
  except: unfinishedClasses,
});

/** Finds the starts of classes of tests of which no end is told. */
function unfinishedClasses(lines: readonly string[]): Set<number> {
  const open = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const started = /^\[INFO\] Running (?<name>\S+)$/.exec(line)?.groups?.name;
    if (started !== undefined) open.set(started, index);
    const ended = /^\[\w+\] Tests run: \d.* in (?<name>\S+)$/.exec(line)?.groups?.name;
    if (ended !== undefined) open.delete(ended);
  }
  return new Set(open.values());
}
