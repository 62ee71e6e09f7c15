import { showValue } from '../support/errors.js';

/**
 * The minimizer's definition of a line about an error. Such a line is never left out, whatever a filter
 * says. The test is a wide one: a line that is kept needlessly costs little, a line that is lost may cost
 * the model its way.
 */

/** Words, matched whole and in any case. */
const WORDS = [
  'errors?|err|err!|errno|erroneous|fail(?:s|ed|ing|ures?)?|fatal|critical|crit|severe|emerg',
  'panic(?:s|ked)?|exceptions?|traceback|stack ?trace|caused by|warn(?:s|ed|ings?)?|deprecat(?:ed|ion)',
  'abort(?:s|ed|ing)?|crash(?:es|ed)?|segfaults?|segmentation fault|bus error|core dumped|killed|terminated',
  "denied|refused|rejected|forbidden|unauthorized|can ?not|can't|couldn't|could not|unable|did not|doesn't",
  'not found|no such|no space|no matching|no module|does not|not (?:a|an|allowed|be|ok|permitted|supported)',
  'undefined|undeclared|unresolved|unrecognized|unknown|unexpected|unsupported|unsatisfied|unmet',
  'unreachable|invalid|illegal|malformed|corrupt(?:ed|ion)?|missing|mismatch(?:ed|es)?|incompatible',
  'conflict(?:s|ed|ing)?|duplicate|multiple definition|expected|assert(?:s|ed|ions?)?|broken|problems?',
  'time[- ]?out|timed out|out of memory|oom|overflow|underflow|too many|leak(?:s|ed)?|vulnerabilit(?:y|ies)',
  'exit(?:ed|s)?(?: with)?(?: non-zero)?(?: code| status)?[ :=(]+[1-9]\\d*|(?:code|status|rc)[ :=]+[1-9]\\d*',
  'returned [1-9]\\d*',
];

const WORD = new RegExp(`(?<![\\w])(?:${WORDS.join('|')})(?!\\w)`, 'i');

/** `ValueError`, `ERESOLVE`, `E0308`, `SIGSEGV`. */
const NAME = /(?:Error|Exception|Warning|Failure)s?\b|\bE(?:[A-Z]{3,}|\d{3,5})\b|\bSIG[A-Z]{2,}\b/;

/**
 * The signs of linters and test runners, `***` of make; pytest's `>` before the line that failed, and
 * that of code frames. `> Task :app` of Gradle and `> npm run build` are neither.
 */
const SIGN =
  /[✗✘✖×❌⚠⛔‼]|(?:^|\s)\*{3}(?:\s|$)|^\s*●|^\s*(?:E|[EWF]:) {1,7}\S|^\s*> {3,40}\S|^\s*> *\d+ \|/u;

/** `src/a.c:3:5: …`, `main.go:7: …`, `a.ts(3,5): …`, and places in a stack. */
const PLACE =
  /^\s*(?:[A-Za-z]:)?[^\s:()]+(?::\d+(?:[:.]\d+)?|\(\d+(?:,\d+)?\)):?(?:$|(?<=:) \S)|^\s+at \S|^\s*File "|^\s*-->/;

/** A compiler's words before the first place: `a.c: In function ‘f’:`, `ld: a.o: in function `f':`. */
const BEFORE_PLACE =
  /^(?:In file included|\s{10,}) ?from \S+:\d+[:,]|^[^\s:]+:(?: [^\s:]+:)? (?:In|in|At) \S.{0,500}:$/;

/** Counts of no errors: `0 errors`, `no warnings`, `failures: 0`. */
const NONE =
  /(?<![\w.,])(?:0|no|zero|without)[ -](?:errors?|warnings?|failures?|failed|fail|problems?|vulnerabilities|issues|conflicts?|timeouts?|leaks?)(?!\w)|(?<!\w)(?:errors?|warnings?|failures?|failed|fail|problems?|exit (?:code|status))[ :=]+0(?![\w.])/gi;

/** A test that passed; its name may be about errors: `ok 3 - rejects an invalid amount`. */
const PASSED =
  /^\s*(?:ok \d+ (?:- )?\S|--- PASS: \S|test \S.* \.\.\. ok$|[✓✔√] .*\(?\d+(?:\.\d+)? ?m?s\)?$|\S+::\S.* PASSED(?: +\[ *\d+%\])?$)/u;
/** A package or a file that was fetched or installed; its name may be about errors: `http-errors`. */
const FETCHED = [
  /^npm http (?:fetch GET 2\d\d|cache) \S+ \d+ms(?: \([\w ]+\))?$/,
  /^(?:\[INFO\] )?Download(?:ing|ed) (?:from|to) \S+: \S+(?: \([\d.]+ [kMG]?B at [\d.]+ [kMG]?B\/s\))?$/,
  /^go: (?:downloading \S+ v\S+|found \S+ in \S+ v\S+)$/,
  /^ *(?:Compiling|Checking|Documenting|Fresh|Downloaded|Adding) \S+ v\d\S*(?: \(\S+\))?$/,
  /^(?:Selecting previously unselected package \S+|Preparing to unpack \S+ \.\.|(?:Unpacking|Setting up) \S+ \([^()]+\) \.\.)\.$/,
  /^Get:\d+ \S+ .* \[[\d.,]+ [kMG]?B\]$/,
  /^Requirement already satisfied: \S+ in \S+(?: \(from [^()]+\))? \([^()]+\)$/,
  /^Collecting \S+(?: \(from [^()]+\))?$/,
  /^ {2}(?:Downloading|Using cached) \S+ \([\d.]+ [kMG]?B\)$/,
];
const COUNTED = /[1-9]\d* (?:errors?|warnings?|failures?|failed|problems?)\b/i;

/** The reason why a line is about an error. */
export interface ErrorLineReason {
  /** A `file:line:` place, a mark of a tool, a word, or the name of an error. */
  readonly kind: 'place' | 'sign' | 'word' | 'name';
  /** The text that was found in the line. */
  readonly text: string;
}

/**
 * Returns whether a line is about an error, a warning or a failure. Counts of none, the tests that a
 * runner marks as passed, and the names of packages that were fetched are not.
 */
export function isErrorLine(line: string): boolean {
  return explainErrorLine(line) !== undefined;
}

/**
 * Explains why a line is about an error, so that no filter may leave it out: the `kind` of the text that
 * was found in it, and that text. For authors of a filter that leaves out less than it should.
 */
export function explainErrorLine(line: string): ErrorLineReason | undefined {
  const clear =
    found('place', PLACE, line) ?? found('place', BEFORE_PLACE, line) ?? found('sign', SIGN, line);
  if (clear !== undefined) return clear;
  const word = wordIn(line);
  if (word === undefined || isPassed(line)) return undefined;
  const rest = line.replace(NONE, '');
  return rest.length === line.length ? word : wordIn(rest);
}

/** Describes for authors of filters a line that must stay, and why. */
export function describeErrorLine(line: string): string {
  const reason = explainErrorLine(line);
  const why =
    reason === undefined
      ? 'it belongs to one above it'
      : `${reason.kind} ${showValue(reason.text)}`;
  return `${showValue(line)} (${why})`;
}

function wordIn(line: string): ErrorLineReason | undefined {
  return found('word', WORD, line) ?? found('name', NAME, line);
}

function found(
  kind: ErrorLineReason['kind'],
  expression: RegExp,
  line: string,
): ErrorLineReason | undefined {
  const text = expression.exec(line)?.[0];
  return text === undefined ? undefined : { kind, text: text.trim() };
}

/** Names of tests are short, and matching a longer line would be slow. */
const LONGEST_PASSED = 500;

function isPassed(line: string): boolean {
  if (line.length > LONGEST_PASSED) return false;
  if (FETCHED.some((pattern) => pattern.test(line))) return true;
  return PASSED.test(line) && !COUNTED.test(line);
}

/** The most lines that count as the excerpt or the stack of one error. */
const MOST_BODY_LINES = 60;
const LINES_A_STEP = 500;
/** An indented line of progress: `   Compiling serde v1.0.0`. */
const AT_WORK = /^\s+[A-Z][a-z]+ing\b/;
const EXCERPT = /^(?:\s+\S|\s*\d*\s*\||\s*[|^~│╰])/;
const TRACEBACK = /^(?<indent>[\s│|]*)(?:Traceback \(most recent call last\)|thread '.*' panicked)/;

/**
 * Finds the lines that must be kept: those about errors, and the lines that belong to them: the indented
 * lines and source excerpts right below, a traceback with the line that ends it. Yields from time to
 * time, so that the caller can let other work run.
 */
export function* findErrorLines(lines: readonly string[]): Generator<void, Uint8Array> {
  const marks = new Uint8Array(lines.length);
  let body = 0;
  let traceback: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (index % LINES_A_STEP === LINES_A_STEP - 1) yield;
    const start: string | undefined = TRACEBACK.exec(line)?.groups?.indent;
    if (start !== undefined) {
      traceback = start.length;
      marks[index] = 1;
      continue;
    }
    if (traceback !== undefined) {
      marks[index] = 1;
      // The first line that is not indented deeper names the exception.
      if (line.trim() !== '' && indentOf(line) <= traceback) traceback = undefined;
      continue;
    }
    if (isErrorLine(line)) {
      marks[index] = 1;
      body = MOST_BODY_LINES;
    } else if (body > 0 && isExcerpt(line)) {
      marks[index] = 1;
      body -= 1;
    } else {
      body = 0;
    }
  }
  return marks;
}

function isExcerpt(line: string): boolean {
  return EXCERPT.test(line) && !AT_WORK.test(line) && !isPassed(line);
}

function indentOf(line: string): number {
  return line.length - line.replace(/^[\s│|]+/, '').length;
}
