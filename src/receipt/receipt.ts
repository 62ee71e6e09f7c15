import type {
  BackgroundProcess,
  BaseResult,
  Capture,
  Counts,
  FirstRun,
  MergedResult,
  NotLowered,
  Outcome,
  RunResult,
  SeparateResult,
  SpillError,
  SpillReport,
  StreamName,
} from '../engine/outcome.js';
import type { SandboxReport } from '../engine/sandbox-report.js';
import type { LimitsReport } from '../engine/told/limits-report.js';
import { loadShellParser, parseShell } from '../shell/parser.js';
import { findPipelineCode, hiddenPrograms, mayHavePipelineCode } from '../shell/pipeline-code.js';
import { findPipelineUse } from '../shell/pipeline-use.js';
import type { PipelineCode, PipelineUse } from '../shell/reading.js';
import { InputError, showValue } from '../support/errors.js';
import { settlesWithin } from '../support/timing.js';
import { saysBrokenPipe } from './broken-pipe.js';
import { incompleteNotice } from './checkout-notice.js';
import { heldNotice } from './held-notice.js';
import { type InsideNumbers, numbersInside } from './inside.js';
import { type ListeningPort, listeningPorts, type ProcessPorts } from './ports.js';

/** A process that a command left running. */
export interface RunningProcess extends BackgroundProcess {
  /** The TCP ports on which it listened when the receipt was made. */
  readonly ports: readonly ListeningPort[];
  /** The numbers of the process in the PID namespace of its sandbox. */
  readonly inside?: InsideNumbers;
}

/** The figures of one output stream. */
export interface StreamReceipt extends Counts {
  /** Whether the result, or a tool's answer, lacks a part of the stream. */
  readonly cut: boolean;
  /** Whether the text differs from the exact bytes. */
  readonly lossy: boolean;
}

/** The file that has all of the output, or its beginning. */
export interface KeptReceipt {
  /** Absolute path of the file. */
  readonly path: string;
  /** The ID in `artifact://ID`, when a tool has kept the output. */
  readonly artifactId?: string;
  /** Bytes of the output in the file. */
  readonly bytes: number;
  /** Bytes of the output that the file lacks. */
  readonly missing: number;
}

/**
 * The facts about one finished command, without its text and its output: plain data for a log, a trace or
 * a person. The same for `run()`, for every contract, for the interaction log and for tracing.
 */
export interface Receipt
  extends Pick<BaseResult, 'outOfMemory' | 'durationMs' | 'executed' | 'moreExecuted'>,
    Partial<Pick<BaseResult, 'cpu' | 'peakMemory'>> {
  /** Process id; 0 when the command never started, or ran in a client's terminal. */
  readonly pid: number;
  /** How the command ended, and what ended it. */
  readonly outcome: Outcome;
  /**
   * The program that set the exit code: present when a pipeline ends in a filter, and `pipefail` is not
   * set.
   */
  readonly exitCodeOf?: PipelineCode;
  /**
   * The same for a pipeline before the end, by whose exit code the command went: present when `$?`, `&&`,
   * `||`, `if`, `while` or `until` comes after one, and the exit code itself is not to be explained.
   */
  readonly wentBy?: PipelineUse;
  /**
   * Present when the exit code is 141, or 141 was printed by a command that asks for `PIPESTATUS`: SIGPIPE
   * has ended a program, since what read its output had stopped reading.
   */
  readonly brokenPipe?: true;
  /** The processes that still run. */
  readonly background: readonly RunningProcess[];
  /** Figures of each stream: `output`, or `stdout` and `stderr`. */
  readonly streams: Readonly<Partial<Record<StreamName, StreamReceipt>>>;
  /** The file with the output; present when there is one. */
  readonly kept?: KeptReceipt;
  /** The sandbox; present when the command was in one. */
  readonly sandbox?: SandboxReport;
  /** How the limits were enforced; present when the command had some. */
  readonly limits?: LimitsReport;
  /** How the first run ended; present when the command was run a second time. */
  readonly firstRun?: FirstRun;
  /** Problems beside the command itself, denials, and facts that could not be looked up; one line each. */
  readonly troubles: readonly string[];
}

/** A command's result, from either engine. */
export type ReceiptSource =
  | Omit<MergedResult, 'engine' | 'heldBack'>
  | Omit<SeparateResult, 'engine' | 'heldBack'>;

/** Facts that a contract knows about its command beyond the result. */
export interface ReceiptContext {
  /** The command without the text that a contract put around it. Default: that of the result. */
  readonly text?: string | undefined;
  /** The command's environment block. */
  readonly environment?: string | undefined;
  /** The streams that the answer does not show whole. Default: those that were not kept whole. */
  readonly cut?: Readonly<Partial<Record<StreamName, boolean>>>;
  /** The file with the output, if there is one. Default, when it is left out: the spill file. */
  readonly kept?: KeptReceipt | undefined;
  /** Why the output was not kept, although it should have been. */
  readonly keptError?: string | undefined;
  /** Other problems, and facts that could not be looked up; one line each. */
  readonly troubles?: readonly string[];
  /** Whether `pipefail` was set before the text began. Default: whether the environment may have set it. */
  readonly hasPipefail?: boolean | undefined;
}

/**
 * Makes the receipt of a command. Most of it is taken from the result; only now the command's text is
 * parsed to find the program that set the exit code, and `/proc` is read for the ports of processes that
 * still run.
 *
 * @param result The result of `run()`, or of a live process's `result`.
 * @throws {InputError} `result` is no such result.
 */
export async function receiptOf(result: RunResult): Promise<Receipt> {
  if (typeof result !== 'object' || result === null || !('outcome' in result)) {
    throw new InputError(`result: expected a result of run(), got ${showValue(result)}`);
  }
  return makeReceipt(result, {});
}

/**
 * Makes the receipt of a contract's command. Every call comes through here: nearly always nothing has to
 * be looked up, and the receipt is returned synchronously.
 */
export function makeReceipt(
  result: ReceiptSource,
  context: ReceiptContext,
): Receipt | Promise<Receipt> {
  const { background, outcome, command } = result;
  const { text = command } = context;
  const mayBePiped = outcome.kind === 'exited' && text.includes('|') && mayHavePipelineCode(text);
  const isOpen = background.length > 0 || mayBePiped;
  return isOpen ? lookAndMake(result, context) : receiptWith(result, context, NOTHING_FOUND);
}

/** Returns whether a receipt has something that a model must know, besides the output and how it ended. */
export function isEventful(receipt: Receipt): boolean {
  const { exitCodeOf, wentBy, brokenPipe, outOfMemory, limits, background, sandbox, firstRun } =
    receipt;
  return (
    background.length > 0 ||
    exitCodeOf !== undefined ||
    wentBy !== undefined ||
    brokenPipe !== undefined ||
    outOfMemory !== undefined ||
    limits?.reached !== undefined ||
    sandbox !== undefined ||
    firstRun !== undefined
  );
}

/** Facts that had to be looked up. */
interface Findings {
  readonly exitCodeOf?: PipelineCode | undefined;
  readonly wentBy?: PipelineUse | undefined;
  readonly background: readonly RunningProcess[];
  readonly troubles: readonly string[];
}

const NOTHING_FOUND: Findings = { background: [], troubles: [] };

async function lookAndMake(result: ReceiptSource, context: ReceiptContext): Promise<Receipt> {
  const isApart = result.sandbox?.enforced.processes === 'namespace';
  const running = await lookAt(result.background, isApart);
  return receiptWith(result, context, { ...running, ...(await pipelinesOf(result, context)) });
}

function receiptWith(result: ReceiptSource, context: ReceiptContext, found: Findings): Receipt {
  const { pid, outcome, outOfMemory, durationMs, cpu, peakMemory, spill, notLowered } = result;
  const { executed, moreExecuted } = result;
  const { exitCodeOf, wentBy, background } = found;
  const kept = 'kept' in context ? context.kept : spill && keptBySpill(spill);
  const keptError = context.keptError ?? (spill?.error && describeSpillError(spill.error));
  const notKept = keptError === undefined ? [] : [`the output is not kept whole: ${keptError}`];
  const troubles = [...found.troubles, ...(context.troubles ?? []), ...notKept];
  const held = result.sandbox && heldNotice(result.sandbox);
  if (held !== undefined) troubles.unshift(held);
  const incomplete = result.sandbox && incompleteNotice(result.sandbox);
  if (incomplete !== undefined) troubles.unshift(incomplete);
  if (notLowered !== undefined) troubles.push(describeNotLowered(notLowered));
  if (result.limits?.memoryBytes === 'oom-score') troubles.push(NOT_LIMITED);
  const streams = streamsOf(result, context.cut);
  // One literal; rare fields are added afterwards.
  const receipt: { -readonly [Name in keyof Receipt]: Receipt[Name] } = {
    pid,
    outcome,
    background,
    streams,
    troubles,
    durationMs,
  };
  if (cpu !== undefined) receipt.cpu = cpu;
  if (peakMemory !== undefined) receipt.peakMemory = peakMemory;
  if (outOfMemory !== undefined) receipt.outOfMemory = outOfMemory;
  if (exitCodeOf !== undefined) receipt.exitCodeOf = exitCodeOf;
  if (wentBy !== undefined) receipt.wentBy = wentBy;
  if (saysBrokenPipe(result, context.text ?? result.command)) receipt.brokenPipe = true;
  if (kept !== undefined) receipt.kept = kept;
  if (result.sandbox !== undefined) receipt.sandbox = result.sandbox;
  if (executed !== undefined) receipt.executed = executed;
  if (moreExecuted !== undefined) receipt.moreExecuted = moreExecuted;
  if (result.limits !== undefined) receipt.limits = result.limits;
  if (result.firstRun !== undefined) receipt.firstRun = result.firstRun;
  return receipt;
}

/** A variable that may have set `pipefail` before the text begins. */
const STEERED = /(?:^|\0)(?:BASH_ENV|SHELLOPTS)=/;

async function pipelinesOf(
  { command, outcome }: ReceiptSource,
  { text = command, environment = '', hasPipefail = STEERED.test(environment) }: ReceiptContext,
): Promise<Pick<Findings, 'exitCodeOf' | 'wentBy'>> {
  if (outcome.kind !== 'exited' || !mayHavePipelineCode(text)) return {};
  if (hasPipefail) return {};
  // The explanation is optional: without the parser there is none.
  const parser = await loadShellParser().catch(() => undefined);
  const script = parser && parseShell(parser, text);
  if (parser === undefined || script === undefined) return {};
  const exitCodeOf = findPipelineCode(parser, script, text, outcome.exitCode);
  if (exitCodeOf !== undefined && hiddenPrograms(exitCodeOf).length > 0) return { exitCodeOf };
  const wentBy = findPipelineUse(parser, script, text);
  return wentBy === undefined ? { exitCodeOf } : { exitCodeOf, wentBy };
}

/** The longest wait for the kernel's tables, in milliseconds. */
const LOOK_MS = 1000;

async function lookAt(
  background: readonly BackgroundProcess[],
  isApart: boolean,
): Promise<Pick<Findings, 'background' | 'troubles'>> {
  const looking = listeningPorts(background.map(({ pid }) => pid));
  const found: readonly ProcessPorts[] = (await settlesWithin(looking, LOOK_MS))
    ? await looking
    : [];
  const hidden = background.filter((_, index) => found[index] === undefined);
  const inside = isApart ? await Promise.all(background.map(({ pid }) => numbersInside(pid))) : [];
  return {
    background: background.map((process, index) => {
      const numbers = inside[index];
      return { ...process, ports: found[index] ?? [], ...(numbers && { inside: numbers }) };
    }),
    troubles: hidden.map(({ pid }) => `the ports of process ${pid} could not be looked at`),
  };
}

function streamsOf(result: ReceiptSource, cut: ReceiptContext['cut']): Receipt['streams'] {
  if ('output' in result) return { output: streamOf(result.output, cut?.output) };
  const { stdout, stderr } = result;
  return { stdout: streamOf(stdout, cut?.stdout), stderr: streamOf(stderr, cut?.stderr) };
}

function streamOf({ kind, total, lossy }: Capture, cut = kind === 'cut'): StreamReceipt {
  const { bytes, characters, lines } = total;
  return { bytes, characters, lines, cut, lossy };
}

function keptBySpill({ path, bytes, dropped }: SpillReport): KeptReceipt {
  return { path, bytes, missing: dropped };
}

function describeNotLowered({ code }: NotLowered): string {
  return `the command's priority could not be lowered below that of its host: ${code}`;
}

const NOT_LIMITED =
  'the command had no control group: it could take more than limits.memoryBytes, and would have been ' +
  'ended before its host';

function describeSpillError({ code, message }: SpillError): string {
  return `${code}: ${message}`;
}
