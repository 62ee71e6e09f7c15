import type { KeptOutput } from '../artifacts/keep-output.js';
import type { BackgroundProcess } from '../engine/outcome.js';
import type { ReachedLimit } from '../engine/told/limits-report.js';
import { incompleteNotice } from '../receipt/checkout-notice.js';
import { pipelineNotices } from '../receipt/pipeline-notices.js';
import type { ListeningPort } from '../receipt/ports.js';
import { isEventful, type Receipt, type RunningProcess } from '../receipt/receipt.js';
import { firstBytes, formatSize, visibleText } from '../support/text.js';
import {
  firstRunNotice,
  hasOwnLoopback,
  OWN_LOOPBACK,
  sandboxNotices,
} from './sandbox/denial-notices.js';

/** The text in place of the output of a command that printed nothing. */
const NO_OUTPUT = '(no output)';

/** The same for a command that still runs. */
const NO_OUTPUT_YET = '(no output yet)';

/** The same for a task that has printed, but nothing since the model has looked. */
export const NOTHING_NEW = '(nothing new since the last look)';

/** The same for new output without any text. */
export const ONLY_BLANKS = '(only blank lines)';

/**
 * Returns the output, or a remark when it is blank: some model APIs refuse blank text, and with it the whole
 * conversation.
 */
export function outputText(text: string, state: 'ended' | 'running' = 'ended'): string {
  if (text.trim() !== '') return text;
  return state === 'ended' ? NO_OUTPUT : NO_OUTPUT_YET;
}

/**
 * Names the place of an output: `/tmp/x`, or `/tmp/x (only the first 256.0MB)`.
 *
 * @param place The path or URL, as the model uses it.
 */
export function placeNotice(
  place: string,
  { complete, bytes }: KeptOutput & { readonly kind: 'kept' },
): string {
  return complete ? place : `${place} (only the first ${formatSize(bytes)})`;
}

/** Says how long the command took. */
export function wallTimeNotice(durationMs: number): string {
  return `Wall time: ${(durationMs / 1000).toFixed(2)} seconds`;
}

/** Says that a command ended with a code other than 0. */
export function exitNotice(exitCode: number): string {
  return `Command exited with code ${exitCode}`;
}

/** The notice of a command that ended without an exit code. */
export const NO_STATUS = 'Command failed: missing exit status';

/** Names the signal that ended a command. */
export function signalNotice(signal: NodeJS.Signals): string {
  return `Killed by ${signal}.`;
}

/** The notice of a command that a person ended from its console. */
export const DISMISSED = 'The user ended it from the console.';

/** Says that a command's time was up. */
export function timedOut(seconds: number): string {
  return `Command timed out after ${formatSeconds(seconds)}`;
}

/** Formats a duration: `1 second`, `1.5 seconds`. */
export function formatSeconds(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}

/** Lines for a model; undefined: a line that this answer does not need. */
type Notices = readonly (string | undefined)[];

/**
 * Collects the lines of an answer besides the output and how the command ended, in the order of every
 * contract: about the output, the call, the command.
 *
 * @param output Lines about parts that are left out or are no text, and where they are.
 * @param call Lines about what was decided for the call, and how it went.
 * @param spared A process group that must not be ended together with what still runs in it.
 */
export function noticesOf(
  output: Notices,
  call: Notices,
  receipt: Receipt | undefined,
  spared?: number,
): readonly string[] {
  const known = receipt !== undefined && isEventful(receipt) ? receiptNotices(receipt, spared) : [];
  const notices = [...output, ...call, ...known];
  return notices.filter((notice) => notice !== undefined);
}

/** The warning that nothing should be committed now, if that is so: one line, or none. */
export function warningOf(receipt: Receipt | undefined): readonly string[] {
  const warning = receipt?.sandbox && incompleteNotice(receipt.sandbox);
  return warning === undefined ? [] : [warning];
}

/** Puts that warning before all else in an answer. */
export function afterWarning(receipt: Receipt | undefined, text: string): string {
  const [warning] = warningOf(receipt);
  if (warning === undefined) return text;
  return text === '' ? warning : `${warning}\n\n${text}`;
}

/**
 * Says what a model must know of a command besides its output and how it ended, in one line each: that the
 * exit code is a filter's, that memory ran out, which processes still run.
 */
export function receiptNotices(receipt: Receipt, spared?: number): readonly string[] {
  const { outOfMemory, limits, background, sandbox, firstRun } = receipt;
  return [
    ...pipelineNotices(receipt),
    outOfMemory === 'likely' ? PROBABLY_OUT_OF_MEMORY : undefined,
    outOfMemory === 'yes' ? OUT_OF_MEMORY : undefined,
    ...(limits?.reached ?? []).map((limit) => LIMIT_REACHED[limit]),
    backgroundNotice(background.map(asSeenInside), spared),
    networkNotice(receipt),
    ...(sandbox === undefined ? [] : sandboxNotices(sandbox)),
    firstRun && firstRunNotice(firstRun),
  ].filter((line) => line !== undefined);
}

/** The notice when the kernel seems to have ended a program because memory ran out. */
const PROBABLY_OUT_OF_MEMORY =
  'Out of memory, probably: the kernel has ended a process for lack of memory. Do less at a time.';

/** The same when the command's own control group has counted such an end. */
const OUT_OF_MEMORY =
  'Out of memory: the kernel has ended the command, or a part of it. Do less at a time.';

/** The notices when a command has run into one of its other limits. */
const LIMIT_REACHED: Readonly<Record<ReachedLimit, string>> = {
  processes:
    'The limit of processes was reached: at least one could not be started. ' +
    'Do less at a time, as with fewer parallel jobs.',
  cpuSeconds:
    'The limit of processor time was reached: a process was ended for that. ' +
    'Do less in one process.',
};

/** Says that a server among the processes that still run is not reached from outside. */
function networkNotice({ background, sandbox }: Receipt): string | undefined {
  const ports = background.flatMap((process) => process.ports ?? []);
  if (ports.length === 0) return undefined;
  const published = publishedNotice(ports);
  if (published !== undefined) return published;
  if (sandbox !== undefined && hasOwnLoopback(sandbox)) return OWN_LOOPBACK;
  return ports.some(({ otherNetwork }) => otherNetwork) ? OTHER_NETWORK : undefined;
}

/** Says by which addresses servers in a sandbox are reached from outside; undefined: by none. */
function publishedNotice(ports: readonly ListeningPort[]): string | undefined {
  const ways = ports.flatMap(({ port, url }) => (url === undefined ? [] : `${port}: ${url}`));
  const [first, ...others] = [...new Set(ways)];
  if (first === undefined) return undefined;
  const shown = [first, ...others.slice(0, SHOWN_PORTS - 1)].join(', ');
  const more = others.length < SHOWN_PORTS ? '' : ', …';
  return `From outside the sandbox its ports are reached so: ${shown}${more}.`;
}

/** The notice when a process listens in another network namespace, which is no sandbox of the command's. */
const OTHER_NETWORK =
  'A server there is in a network of its own (that of a container or sandbox): it is reached only from inside.';

/** The process with the numbers by which the next command knows it. */
function asSeenInside({ inside, ...process }: RunningProcess): LeftProcess {
  return { ...process, ...inside };
}

const SHOWN_PROCESSES = 5;
const SHOWN_COMMAND_BYTES = 80;

/** A process that still runs, with the ports on which it listens, if they are known. */
type LeftProcess = BackgroundProcess & { readonly ports?: readonly ListeningPort[] };

/**
 * Says which processes still run and how to stop them; undefined: none does.
 *
 * @param spared A process group that must not be ended together with what still runs in it.
 */
export function backgroundNotice(
  processes: readonly LeftProcess[],
  spared?: number,
): string | undefined {
  if (processes.length === 0) return undefined;
  const shown = processes.slice(0, SHOWN_PROCESSES).map(describeProcess);
  const more = processes.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  // A process with a session of its own is in another group than the command's.
  const targets = processes.map(({ pid, processGroup }) =>
    processGroup === spared ? pid : -processGroup,
  );
  const stop = killCommand([...new Set(targets)]);
  return `Still running in the background: ${shown.join(', ')}. To stop: ${stop}`;
}

/**
 * Makes the command that ends process groups. Without the `--`, some programs called `kill` (those of
 * `sudo kill` and `xargs kill`, which use no shell's builtin) read `-1234` as the option `-1` and signal every
 * process of the user.
 */
export function stopCommand(groups: readonly number[]): string {
  return killCommand(groups.map((group) => -group));
}

/** Says that processes are stopped, and how they go on; undefined: none is. */
export function stoppedNotice(processes: readonly BackgroundProcess[]): string | undefined {
  if (processes.length === 0) return undefined;
  const shown = processes.slice(0, SHOWN_PROCESSES).map(describeProcess);
  const more = processes.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  const groups = [...new Set(processes.map(({ processGroup }) => -processGroup))];
  return `It is stopped: ${shown.join(', ')}. To let it go on: kill -CONT -- ${groups.join(' ')}`;
}

/** Makes a `kill` command for processes, and for groups, which are negative numbers. */
function killCommand(targets: readonly number[]): string {
  return `kill -9 -- ${targets.join(' ')}`;
}

/** Describes a process in one line: `4711 (node server.js) on port 3000`. */
export function describeProcess({
  pid,
  command,
  ports = [],
}: Pick<LeftProcess, 'pid' | 'command' | 'ports'>): string {
  const line = visibleText(command.replace(/\s+/g, ' ').trim());
  const shown = firstBytes(line, SHOWN_COMMAND_BYTES);
  return `${pid} (${shown === line ? line : `${shown}…`})${describePorts(ports)}`;
}

const SHOWN_PORTS = 4;

function describePorts(ports: readonly ListeningPort[]): string {
  const [first, ...others] = new Set(ports.map(({ port }) => port));
  if (first === undefined) return '';
  if (others.length === 0) return ` on port ${first}`;
  const shown = [first, ...others.slice(0, SHOWN_PORTS - 1)];
  return ` on ports ${shown.join(', ')}${others.length < SHOWN_PORTS ? '' : ', …'}`;
}

/**
 * Makes the text of a result: output, one blank line, notices, one blank line, how the command ended. The
 * output loses its last newlines, so that exactly one blank line follows.
 */
export function joinSections(
  output: string,
  notices: readonly (string | undefined)[],
  ending?: string,
): string {
  // Loops, since every call comes here and they are faster than arrays.
  let given = '';
  for (const notice of notices) {
    if (notice !== undefined) given = given === '' ? notice : `${given}\n${notice}`;
  }
  let text = withoutFinalNewlines(output);
  for (const section of [given, ending ?? '']) {
    if (section !== '') text = text === '' ? section : `${text}\n\n${section}`;
  }
  return text;
}

// A loop, since /\n+$/ takes quadratic time on long runs of newlines.
function withoutFinalNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
  return text.slice(0, end);
}
