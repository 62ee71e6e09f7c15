/** A title that is open: tests and further titles are right below it, indented. */
interface OpenSuite {
  readonly index: number;
  readonly indent: number;
  hasTests: boolean;
  isClean: boolean;
}

/**
 * Finds the titles of suites below which there are only passed tests, in output where both are indented
 * as they are nested. A title says where a failed test is, so that of its suite stays.
 *
 * @param isWithin Whether a line is of the test runner at all.
 */
export function passedSuites(
  lines: readonly string[],
  title: RegExp,
  passed: RegExp,
  isWithin: (index: number) => boolean,
): Map<number, string> {
  const found = new Map<number, string>();
  const open: OpenSuite[] = [];
  const close = (indent: number): void => {
    while ((open.at(-1)?.indent ?? -1) >= indent) {
      const suite = open.pop();
      if (suite?.isClean === true && suite.hasTests) found.set(suite.index, 'passed suites');
    }
  };
  for (const [index, line] of lines.entries()) {
    if (!isWithin(index)) {
      close(0);
      continue;
    }
    if (line.trim() === '') continue;
    const indent = indentOf(line);
    close(indent);
    if (passed.test(line)) {
      for (const suite of open) suite.hasTests = true;
    } else if (title.test(line) && indentOf(lines[index + 1]) > indent) {
      open.push({ index, indent, hasTests: false, isClean: true });
    } else {
      for (const suite of open) suite.isClean = false;
    }
  }
  close(0);
  return found;
}

/** Returns how many blanks come first; -1 for a line without text. */
function indentOf(line: string | undefined): number {
  return line?.search(/\S/) ?? -1;
}
