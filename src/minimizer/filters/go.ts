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

const PACKAGE = /^[\w-]+(?:[/.][\w.-]+)*$/;
const OF_STANDARD_LIBRARY = /^[a-z\d]+(?:\/[\w.-]+)*$/;
/** Packages that are built before all others: `find` does not print these names alone. */
const FIRST_PACKAGE = /^internal\/(?:abi|asan|byteorder|cpu|goarch|goos|msan|race|unsafeheader)$/;

/**
 * Finds the packages of the standard library in what `go build -v` prints, which are names without a
 * header, and the word that ends a package's tests.
 */
function quietPackages(lines: readonly string[]): Map<number, string> {
  const found = new Map<number, string>();
  let begin = 0;
  let isBuild = false;
  const close = (end: number): void => {
    for (let index = begin; isBuild && index < end; index += 1) {
      if (OF_STANDARD_LIBRARY.test(lines[index] ?? '')) {
        found.set(index, 'packages of the standard library');
      }
    }
    begin = end + 1;
    isBuild = false;
  };
  for (const [index, line] of lines.entries()) {
    if (line === 'PASS' && /^(?:ok +\t|coverage: )/.test(lines[index + 1] ?? '')) {
      found.set(index, 'passed packages');
    }
    if (!PACKAGE.test(line)) close(index);
    else if (FIRST_PACKAGE.test(line)) isBuild = true;
  }
  close(lines.length);
  return found;
}

/** go: passed tests, fetched modules, packages that were built. */
export const goFilter = createRuleFilter({
  name: 'go',
  programs: ['go', 'gotest', 'gotestsum'],
  noise: [
    { what: 'test starts', pattern: START },
    { what: 'passed tests', pattern: /^\s*--- PASS: \S/ },
    { what: 'packages without tests', pattern: /^\?? +\t?\S+\t\[no test files\]$/ },
    { what: 'packages without tests', pattern: /^\t\S+\t+coverage: 0\.0% of statements$/ },
    { what: 'cached packages', pattern: /^ok +\t\S+\t\(cached\)/ },
    { what: 'downloads', pattern: /^go: (?:downloading|extracting) \S+ v/ },
    { what: 'modules found', pattern: /^go: (?:finding|found) \S+/ },
  ],
  more: quietPackages,
  except: unfinishedTests,
});
