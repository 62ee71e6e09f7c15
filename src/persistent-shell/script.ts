import { quoteWord } from '../support/quote.js';

/**
 * The lines of a persistent shell's script, one for each call. The commands in a line around the call's own
 * text must have no visible effect on it, whatever the text sets, traps or redefines:
 *
 * - No descriptor of ours is open while the text runs. For a redirection that ends, bash would keep the
 *   former descriptor at 10 or above, where scripts have descriptors of their own. So `exec`, in the first
 *   line of the evaluated text, opens the text's streams, which stay open until the next call.
 * - Traces (`set -x`), echoed lines (`set -v`) and output of a DEBUG trap before commands of ours go to the
 *   streams of the call before, which are not read any more, or to `/dev/null`.
 * - `\builtin` is no alias, nor a function, unless the user has defined one of that name.
 * - In the first part of `&&`, neither `set -e` nor an ERR trap sees how `builtin eval` itself ends, while
 *   both work as usual inside of it. The loop after it runs no command, so that no DEBUG trap sees it.
 * - No descriptor stays open for the report, since commands would inherit it.
 * - `$?` is what it was after the text before. It is set without a fork, unless that would be visible.
 * - Lines are short: bash reads them byte by byte, since a pipe cannot be rewound.
 * - After each line comes the first blank of the next one. Once bash has read the blank, the line is over,
 *   even if bash has skipped our commands: see `Wires`.
 */

/** The name of the script's pipe in its directory, which bash also uses in its messages. */
export const SCRIPT_NAME = 'bash';

/** The name of a function of ours, which no user's function has. */
const OPENING = '__forkline_open';

const NOTHING = 'for _ in;do :;done';

/** The beginning of the next line, after a call's line. `set -v` would echo a whole line. */
export const NEXT = ' ';

/** Resets the line number, so that the text's lines count from 1 after the line that opens the streams. */
const COUNTS_ANEW = `"\${0:LINENO=0:0}"`;

/** Saves `$?` in `$_`, where only the next simple command sees it: reports have it as their last word. */
const KEEPS_STATUS = `"\${0:0*(_=$?):0}"`;

/**
 * The descriptor at which bash is made to keep its script. Bash takes 255, or else the first free one, and no
 * redirection to that number lasts, since bash takes it for its own. So all numbers below this one are in use
 * while bash opens the script, if the limit of descriptors allows it.
 */
const SCRIPT_FD = 487;
const AT_ONCE = 44;
const ENOUGH = SCRIPT_FD + 2 * AT_ONCE;

const FILL =
  `test -z "\${BASH_VERSION-}" || ` +
  `eval command exec {3..${SCRIPT_FD - 1}}'<&0' '${ENOUGH}<&0 ${ENOUGH}<&-'`;

/** Closes those descriptors, a few at once: bash saves each one until all of an `exec` are closed. */
function emptyAgain(): string {
  const closed = [];
  for (let from = 3; from < SCRIPT_FD; from += AT_ONCE) {
    closed.push(`{${from}..${Math.min(from + AT_ONCE, SCRIPT_FD) - 1}}'<&-'`);
  }
  const all = closed.map((some) => `\\\\command exec ${some}`).join(" ';' ");
  return `if [[ -e /dev/fd/${SCRIPT_FD - 1} ]]; then \\builtin eval ${all}; fi`;
}

/**
 * The command that replaces the shell in which it runs by one that reads its script from a pipe.
 *
 * Where programs are decided on, the keeper knows the second one by its first arguments.
 *
 * @param directory The directory of the pipe.
 * @param startUp The value of `BASH_ENV`, a file that only the second shell may read. It may open descriptors.
 */
export function launchText(directory: string, startUp: string | undefined): string {
  const bash = `exec "\${BASH:-bash}" --norc --noprofile ${SCRIPT_NAME}`;
  const go = `cd -- ${word(directory)}`;
  if (startUp !== undefined) return `${go} && BASH_ENV=${word(startUp)} ${bash}`;
  return `${FILL}; ${go} && ${bash}`;
}

const START_UP = /(?:^|\0)BASH_ENV=([^\0]*)/;

/** Splits an environment block into a block without `BASH_ENV`, and the value of that. */
export function withoutStartUp(
  block: string,
): readonly [block: string, startUp: string | undefined] {
  const found = START_UP.exec(block);
  if (found === null) return [block, undefined];
  const rest = block.slice(0, found.index) + block.slice(found.index + found[0].length);
  return [rest.replace(/^\0/, ''), Buffer.from(found[1] ?? '', 'latin1').toString()];
}

/**
 * The first line, by which the shell changes to its first directory and reports that it is ready.
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

/** A way by which a shell may send reports. */
export interface ReportWay {
  readonly number: number;
  /** The path that the shell opens. */
  readonly path: string;
}

/** The parts of a call's line. */
interface ScriptCall {
  readonly number: number;
  readonly text: string;
  /** Paths of named pipes. */
  readonly stdout: string;
  readonly stderr: string;
  /** Ways for the report; the shell uses the first that it can open. */
  readonly ways: readonly ReportWay[];
  /** The value of `$?` for the text. */
  readonly status: number;
  /** The options of `set` that are on. */
  readonly options: ReadonlySet<string>;
}

/** Makes the line of a call. Error messages count its lines from 1, as in a fresh shell. */
export function callLine(call: ScriptCall): string {
  const evaluated = `${openingOf(call)}\n${call.text}`;
  const run = `\\builtin eval -- ${word(evaluated)}${COUNTS_ANEW}&&${NOTHING}`;
  return `${run};${reportOf(call.number, call.ways)}\n${NEXT}`;
}

/**
 * Makes a line that asks for the report of a call again. After some errors (`declare -i n; n=0#4`) bash drops
 * the rest of a line and goes on with its script, where `bash -c` would end; `$?` is that of the error.
 */
export function reportLine(number: number, ways: readonly ReportWay[]): string {
  return `${reportOf(number, ways)}\n${NEXT}`;
}

/** Opens the text's streams and sets `$?`. When the streams cannot be opened, nothing of the text is run. */
function openingOf({ number, stdout, stderr, ways, status, options }: ScriptCall): string {
  const told = ways.map(({ path }) => `(/bin/echo ${number})>${word(path)}`).join('||');
  // No setting or trap can keep bash from ending at the error of this expansion.
  const refusal = `{ ${told};for _ in \${${OPENING}:?};do :;done;}`;
  const streams = `>${word(stdout)} 2>${word(stderr)}`;
  const open = `${openingTo(streams, options.has('posix'))}||${refusal}`;
  if (status === 0) return open;
  // Commands in a function would be traced. In a child, output of DEBUG and RETURN traps is discarded.
  const isTraced = options.has('xtrace') || options.has('functrace');
  if (isTraced) return `${open};(\\builtin exit ${status})>/dev/null 2>&1&&${NOTHING}`;
  const before = `\\builtin unset -f ${OPENING};${open};\\builtin return ${status}`;
  return `${OPENING}(){ ${before};};${OPENING}&&${NOTHING}`;
}

/**
 * Opens streams by `exec`. `builtin exec` would not keep them open. If the user has a function called
 * `command`, the rules of POSIX are turned on for this, by which no function overrides `exec`.
 */
function openingTo(streams: string, isPosix: boolean): string {
  if (isPosix) return `\\exec ${streams}`;
  const strictly = `POSIXLY_CORRECT=y \\exec ${streams};\\builtin unset POSIXLY_CORRECT`;
  return `if \\builtin declare -F command;then ${strictly};else \\command exec ${streams};fi`;
}

/** Makes the commands of a report. A shell that cannot report exits, lest the host wait for ever. */
function reportOf(line: number, ways: readonly ReportWay[]): string {
  const words = ({ number }: ReportWay, status: '$?' | '$_') =>
    `echo ${line} "$SHELLOPTS" ${number} "${status}"`;
  // A DEBUG trap changes `$_`, not `$?`.
  const tries = ways.map(
    (way, at) => `\\builtin ${words(way, at === 0 ? '$?' : '$_')} >${word(way.path)}`,
  );
  // For a shell whose `echo` was removed by `enable -n`, or that has no descriptor left to save another one.
  const inChild = ways.map((way) => `(/bin/${words(way, '$_')})>${word(way.path)}`);
  return `{ ${tries.join('||')};}>/dev/null${KEEPS_STATUS} 2>&1||${inChild.join('||')}||\\builtin exit "$_"`;
}

function word(text: string): string {
  return quoteWord(text, 'plain');
}
