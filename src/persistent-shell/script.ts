import { quoteWord } from '../support/quote.js';

/**
 * The lines that a shell which lasts is fed, one for each call. What runs in them beside the call's
 * own text must not be seen by it, whatever it sets, traps or redefines:
 *
 * - No descriptor of ours is open while the text runs. A redirection that bash takes back has it keep
 *   what was there before at 10 and above, where scripts have descriptors of their own. So the text's
 *   streams come by `exec`, as the first line of what is evaluated, and stay until the next call's.
 * - Traces (`set -x`), lines that are echoed (`set -v`) and what a DEBUG trap prints before words of
 *   ours go to the streams of the call before, which nobody reads any more, or to nowhere.
 * - `\builtin` is neither an alias nor, unless somebody calls one so, a function.
 * - In the first part of `&&`, neither `set -e` nor an ERR trap sees how `builtin eval` itself ends,
 *   while inside of it both do as they always do; the loop after it runs no command, so no DEBUG
 *   trap sees it.
 * - No descriptor is kept for the report: commands would have it, too.
 * - `$?` is what it was after the text before, and no fork makes it so unless that could be seen.
 * - Lines are short: bash reads them byte by byte, since a pipe cannot be rewound.
 * - After each line comes the first blank of the next. Once bash has read that, the line is over, even
 *   if it has skipped our words: see `Wires`.
 */

/** What the pipe of the script is called in its directory, and bash calls it in its messages. */
export const SCRIPT_NAME = 'bash';

/** A name that no function of a user has. */
const OPENING = '__forkline_open';

const NOTHING = 'for _ in;do :;done';

/** What follows a call's line: the beginning of the next. No whole line, which `set -v` would echo. */
export const NEXT = ' ';

/** Makes the line that bash evaluates next its first, but for the one that opens the streams. */
const COUNTS_ANEW = `"\${0:LINENO=0:0}"`;

/** Puts `$?` where only the next simple command sees it: reports have it as their last word. */
const KEEPS_STATUS = `"\${0:0*(_=$?):0}"`;

/**
 * Bash keeps its script open at 255, or else at the first that is free; and there no redirection of a
 * script lasts, since bash takes it for one of its own. So all below this one are in use while it opens
 * the script, where the limit allows that and more.
 */
const SCRIPT_FD = 487;
const AT_ONCE = 44;
const ENOUGH = SCRIPT_FD + 2 * AT_ONCE;

const FILL =
  `test -z "\${BASH_VERSION-}" || ` +
  `eval command exec {3..${SCRIPT_FD - 1}}'<&0' '${ENOUGH}<&0 ${ENOUGH}<&-'`;

/** A few at once, for bash keeps each aside until all of an `exec` are closed. */
function emptyAgain(): string {
  const closed = [];
  for (let from = 3; from < SCRIPT_FD; from += AT_ONCE) {
    closed.push(`{${from}..${Math.min(from + AT_ONCE, SCRIPT_FD) - 1}}'<&-'`);
  }
  const all = closed.map((some) => `\\\\command exec ${some}`).join(" ';' ");
  return `if [[ -e /dev/fd/${SCRIPT_FD - 1} ]]; then \\builtin eval ${all}; fi`;
}

/**
 * What takes the place of the shell that a command gets: one that reads its script from a pipe, as
 * it comes.
 *
 * @param directory Where the pipe is.
 * @param startUp Value of `BASH_ENV`, which only the second of both may read. It may open descriptors.
 */
export function launchText(directory: string, startUp: string | undefined): string {
  const bash = `exec "\${BASH:-bash}" --norc --noprofile ${SCRIPT_NAME}`;
  const go = `cd -- ${word(directory)}`;
  if (startUp !== undefined) return `${go} && BASH_ENV=${word(startUp)} ${bash}`;
  return `${FILL}; ${go} && ${bash}`;
}

const START_UP = /(?:^|\0)BASH_ENV=([^\0]*)/;

/** An environment block without the file that bash reads first, and that file. */
export function withoutStartUp(
  block: string,
): readonly [block: string, startUp: string | undefined] {
  const found = START_UP.exec(block);
  if (found === null) return [block, undefined];
  const rest = block.slice(0, found.index) + block.slice(found.index + found[0].length);
  return [rest.replace(/^\0/, ''), Buffer.from(found[1] ?? '', 'latin1').toString()];
}

/**
 * The first line: the shell goes to where it is to begin, and reports that it is ready.
 *
 * @param startUp As for {@link launchText}.
 */
export function firstLine(
  cwd: string,
  startUp: string | undefined,
  ways: readonly ReportWay[],
): string {
  const empty = startUp === undefined ? `${emptyAgain()}; ` : '';
  return (
    `${empty}\\builtin cd -- ${word(cwd)} || \\builtin exit 1; ` +
    `\\builtin unset OLDPWD; \\builtin export OLDPWD; ${NOTHING}; ${reportOf(0, ways)}\n`
  );
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
  /** `$?` as the text is to find it. */
  readonly status: number;
  /** The options of `set` that are on. */
  readonly options: ReadonlySet<string>;
}

/** The line of a call. Errors count its lines from 1, as they would in a shell of its own. */
export function callLine(call: CallLine): string {
  const evaluated = `${openingOf(call)}\n${call.text}`;
  const run = `\\builtin eval -- ${word(evaluated)}${COUNTS_ANEW}&&${NOTHING}`;
  return `${run};${reportOf(call.number, call.ways)}\n${NEXT}`;
}

/**
 * A line that asks for the report of a call again. An error that throws bash back to its script (`declare
 * -i n; n=0#4`) has it drop the rest of a line, as it ends `bash -c`; `$?` is that of the error.
 */
export function reportLine(number: number, ways: readonly ReportWay[]): string {
  return `${reportOf(number, ways)}\n${NEXT}`;
}

/** Opens a text's streams and makes `$?` what it is to find; or else nothing of it is run. */
function openingOf({ number, stdout, stderr, ways, status, options }: CallLine): string {
  const told = ways.map(({ path }) => `(/bin/echo ${number})>${word(path)}`).join('||');
  // Nobody can take away the end that bash makes of this expansion.
  const refusal = `{ ${told};for _ in \${${OPENING}:?};do :;done;}`;
  const streams = `>${word(stdout)} 2>${word(stderr)}`;
  const open = `${openingTo(streams, options.has('posix'))}||${refusal}`;
  if (status === 0) return open;
  // What a function does would be seen; what a trap of DEBUG or RETURN prints in a child is not.
  const isTraced = options.has('xtrace') || options.has('functrace');
  if (isTraced) return `${open};(\\builtin exit ${status})>/dev/null 2>&1&&${NOTHING}`;
  const before = `\\builtin unset -f ${OPENING};${open};\\builtin return ${status}`;
  return `${OPENING}(){ ${before};};${OPENING}&&${NOTHING}`;
}

/**
 * `builtin exec` would not keep them, and somebody may have a function called `command`: then the
 * rules of POSIX, by which no function stands before `exec`, are turned on for that.
 */
function openingTo(streams: string, isPosix: boolean): string {
  if (isPosix) return `\\exec ${streams}`;
  const strictly = `POSIXLY_CORRECT=y \\exec ${streams};\\builtin unset POSIXLY_CORRECT`;
  return `if \\builtin declare -F command;then ${strictly};else \\command exec ${streams};fi`;
}

/** A shell that can report no more is of no use: whoever waits for it must not wait for ever. */
function reportOf(line: number, ways: readonly ReportWay[]): string {
  const words = ({ number }: ReportWay, status: '$?' | '$_') =>
    `echo ${line} "$SHELLOPTS" ${number} "${status}"`;
  // A DEBUG trap changes `$_`, not `$?`.
  const tries = ways.map(
    (way, at) => `\\builtin ${words(way, at === 0 ? '$?' : '$_')} >${word(way.path)}`,
  );
  // Where `echo` was taken away by `enable -n`, or bash has no descriptor to keep one aside.
  const inChild = ways.map((way) => `(/bin/${words(way, '$_')})>${word(way.path)}`);
  return `{ ${tries.join('||')};}>/dev/null${KEEPS_STATUS} 2>&1||${inChild.join('||')}||\\builtin exit "$_"`;
}

function word(text: string): string {
  return quoteWord(text, 'plain');
}
