import { createRuleFilter } from '../rules/rule-filter.js';

const START = /^=== (?:RUN|PAUSE|CONT|NAME) +(?<test>\S+)/;
const END = /^\s*--- (?:PASS|FAIL|SKIP): (?<test>\S+)/;

/** Finds the starts of tests of which no end is told: one of them hangs. */
function unfinishedTests(lines: readonly string[]): Set<number> {
  const open = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const ended = END.exec(line)?.groups?.test;
    if (ended !== undefined) open.delete(ended);
    const started = START.exec(line)?.groups?.test;
    if (started === undefined) continue;
    const starts = open.get(started);
    if (starts === undefined) open.set(started, [index]);
    else starts.push(index);
  }
  return new Set([...open.values()].flat());
}

/** go: passed tests, fetched modules, packages that were built. */
export const goFilter = createRuleFilter({
  name: 'go',
  programs: ['go', 'gotest', 'gotestsum'],
  noise: [
    { what: 'test starts', pattern: START },
    { what: 'passed tests', pattern: /^\s*--- PASS: \S/ },
    { what: 'passed packages', pattern: /^PASS$/ },
    { what: 'packages without tests', pattern: /^\?? +\t?\S+\t\[no test files\]$/ },
    { what: 'packages without tests', pattern: /^\t\S+\t+coverage: 0\.0% of statements$/ },
    { what: 'cached packages', pattern: /^ok +\t\S+\t\(cached\)/ },
    { what: 'downloads', pattern: /^go: (?:downloading|extracting) \S+ v/ },
    { what: 'modules found', pattern: /^go: (?:finding|found) \S+/ },
    // `go build -v`
    {
      what: 'packages of the standard library',
      pattern:
        /^(?:internal|vendor|crypto|runtime|encoding|unicode|go|hash|math|net|os|path|sync|text|io|log|container|regexp|database|debug|html|image|compress|archive)\/[a-z\d_/.]+$/,
    },
  ],
  except: unfinishedTests,
});
