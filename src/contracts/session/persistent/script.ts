import type { Capture } from '../../../engine/outcome.js';
import { quoteWord } from '../../../support/quote.js';

/**
 * The lines that a shell which lasts is fed, one for each call. What runs in them beside the call's
 * own text must not be seen by it, whatever it sets, traps or redefines:
 *
 * - `\builtin` is neither an alias nor, unless somebody calls one so, a function.
 * - In the first part of `&&`, neither `set -e` nor an ERR trap sees how `builtin eval` itself ends,
 *   while inside of it both do as they always do; the loop after it runs no command, so no DEBUG
 *   trap sees it.
 * - Traces (`set -x`) of our words are written before the text's streams are in place, and to
 *   nowhere; words of ours that are echoed (`set -v`), to stderr of the shell's own, which nobody is
 *   shown. Its own stdout has what an EXIT trap prints when `set -e` ends it: bash takes the text's
 *   streams back before it runs that.
 * - No descriptor is kept for the report: commands would have it, too.
 * - `$?` is what it was once the report is made, without a fork.
 */

/** What the pipe of the script is called in its directory, and bash calls it in its messages. */
export const SCRIPT_NAME = 'bash';

/** A name that no function of a user has. */
const REPORT = '__forkline_report';

const NOTHING = 'for _ in; do :; done';

/** A redirection after which the next line that bash reads is its first. */
const COUNTS_ANEW = `2>/dev/null\${0:0*(LINENO=0):0}`;

/** What start-up files have printed stands before it. */
const BEGUN = '__forkline_begun';

/**
 * What takes the place of the shell that a command gets: one that reads its script from a pipe, as
 * it comes.
 *
 * @param directory Where the pipe is.
 * @param startUp Value of `BASH_ENV`, which only the second of both may read.
 */
export function launchText(directory: string, startUp: string | undefined): string {
  const variable = startUp === undefined ? '' : `BASH_ENV=${word(startUp)} `;
  return `cd -- ${word(directory)} && ${variable}exec "\${BASH:-bash}" --norc --noprofile ${SCRIPT_NAME}`;
}

/** The first line: the shell goes to where it is to begin, and reports that it is ready. */
export function firstLine(cwd: string, ways: readonly ReportWay[]): string {
  return (
    `\\builtin cd -- ${word(cwd)} || \\builtin exit 1; ` +
    `\\builtin echo ${BEGUN}; ` +
    `\\builtin unset OLDPWD; \\builtin export OLDPWD; { ${NOTHING}; } ${COUNTS_ANEW}; ${reportOf(0, '0', '"$SHELLOPTS"', ways)}\n`
  );
}

/** What a shell that has ended has printed to its own stdout since it was ready. */
export function lastWords(capture: Capture): string {
  const text = capture.kind === 'complete' ? capture.text : capture.head;
  const at = text.indexOf(`${BEGUN}\n`);
  if (at < 0) return '';
  const words = text.slice(at + BEGUN.length + 1);
  return capture.kind === 'complete' ? words : `${words}\n[… ${capture.dropped.bytes} bytes …]\n`;
}

/** A way by which a shell may report. */
export interface ReportWay {
  readonly number: number;
  /** What it opens for that. */
  readonly path: string;
}

/** What a call's line depends on. */
interface CallLine {
  readonly number: number;
  readonly text: string;
  /** Paths of named pipes. */
  readonly stdout: string;
  readonly stderr: string;
  /** The first that can be opened is taken. */
  readonly ways: readonly ReportWay[];
}

/** The line of a call. Errors count its lines from 1, as they would in a shell of its own. */
export function callLine({ number, text, stdout, stderr, ways }: CallLine): string {
  const run = `\\builtin eval -- ${word(text)} >${word(stdout)} 2>${word(stderr)} && ${NOTHING}`;
  const restore =
    `${REPORT}() { \\builtin unset -f ${REPORT}; ${reportOf(number, STATUS, OPTIONS, ways)}; ` +
    `\\builtin return ${STATUS}; }; ${REPORT} && ${NOTHING}`;
  return (
    `{ ${run}; } ${COUNTS_ANEW}; ` +
    `\\builtin eval "${withValues(inDoubleQuotes(restore))}" && ${NOTHING}\n`
  );
}

/** Stand for values where all else is quoted; no text has them. */
const STATUS = '\0';
const OPTIONS = '\0\0';

function withValues(text: string): string {
  return text.replaceAll(OPTIONS, '$SHELLOPTS').replaceAll(STATUS, '$?');
}

function inDoubleQuotes(text: string): string {
  return text.replace(/[\\"`$]/g, '\\$&');
}

/** A shell that can report no more is of no use: whoever waits for it must not wait for ever. */
function reportOf(
  line: number,
  status: string,
  options: string,
  ways: readonly ReportWay[],
): string {
  const tries = ways.map(
    ({ number, path }) => `\\builtin echo ${line} ${status} ${options} ${number} >${word(path)}`,
  );
  return [...tries, `\\builtin exit ${status}`].join(' || ');
}

function word(text: string): string {
  return quoteWord(text, 'plain');
}
