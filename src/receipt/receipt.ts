import type {
  BackgroundProcess,
  BaseResult,
  Capture,
  Counts,
  FirstRun,
  LimitsReport,
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
import { loadShellParser, parseShell } from '../shell/parser.js';
import { findPipelineCode, mayHavePipelineCode } from '../shell/pipeline-code.js';
import type { PipelineCode } from '../shell/reading.js';
import { InputError, showValue } from '../support/errors.js';
import { settlesWithin } from '../support/timing.js';
import { incompleteNotice } from './checkout-notice.js';
import { type InsideNumbers, numbersInside } from './inside.js';
import { type ListeningPort, listeningPorts, type ProcessPorts } from './ports.js';

/** A process that still runs. */
export interface RunningProcess extends BackgroundProcess {
  /** The TCP ports on which it listened when the receipt was made. */
  readonly ports: readonly ListeningPort[];
  /** Its numbers where its command was, in a sandbox with processes of its own. */
  readonly inside?: InsideNumbers;
}

/** What became of one stream. */
export interface StreamReceipt extends Counts {
  /** Not all of it is in the result, or in the answer of a tool. */
  readonly cut: boolean;
  /** The text is not the exact bytes. */
  readonly lossy: boolean;
}

/** Where all of the output is, or its beginning. */
export interface KeptReceipt {
  /** Absolute path of the file. */
  readonly path: string;
  /** What stands in `artifact://ID`, when a tool has kept it. */
  readonly artifactId?: string;
  /** Bytes that are there. */
  readonly bytes: number;
  /** Bytes of the output that are not. */
  readonly missing: number;
}

/**
 * What became of one command, without its text and its output: plain data for a log, a trace or a
 * person. The same for `run()`, for every contract, for the interaction log and for tracing.
 */
export interface Receipt
  extends Pick<BaseResult, 'outOfMemory' | 'durationMs'>,
    Partial<Pick<BaseResult, 'cpu' | 'peakMemory'>> {
  /** Process id; 0 when it never started, or ran in a client's terminal. */
  readonly pid: number;
  /** How it ended, and by whose doing. */
  readonly outcome: Outcome;
  /** Whose exit code it is: present when a pipeline ends in a filter, and `pipefail` is not set. */
  readonly exitCodeOf?: PipelineCode;
  /** What still runs. */
  readonly background: readonly RunningProcess[];
  /** How much came on each stream: `output`, or `stdout` and `stderr`. */
  readonly streams: Readonly<Partial<Record<StreamName, StreamReceipt>>>;
  /** Present when a file has the output. */
  readonly kept?: KeptReceipt;
  /** What its sandbox was; present when it was in one. */
  readonly sandbox?: SandboxReport;
  /** By what its limits were kept; present when it had some. */
  readonly limits?: LimitsReport;
  /** Present when it was run a second time: what became of the first. */
  readonly firstRun?: FirstRun;
  /** What went wrong beside the command, was denied, or could not be looked at; one line each. */
  readonly troubles: readonly string[];
}

/** A result; which engine it is of makes no difference. */
export type ReceiptSource = Omit<MergedResult, 'engine'> | Omit<SeparateResult, 'engine'>;

/** What a contract knows of its command beyond the result. */
export interface ReceiptContext {
  /** The command without what was put around it. Default: that of the result. */
  readonly text?: string | undefined;
  /** Its environment block. */
  readonly environment?: string | undefined;
  /** The streams of which the answer has not all. Default: those that were not kept whole. */
  readonly cut?: Readonly<Partial<Record<StreamName, boolean>>>;
  /** Where the output is kept, if it is. Default, when it is left out: the spill file. */
  readonly kept?: KeptReceipt | undefined;
  /** Why it is not, although it should have been. */
  readonly keptError?: string | undefined;
  /** What else went wrong or could not be looked at; one line each. */
  readonly troubles?: readonly string[];
  /** `pipefail` was set before the text began. Default: if the environment may have set it. */
  readonly hasPipefail?: boolean | undefined;
}

/**
 * The receipt of a command. What the result knows is taken from there; only now the command's text
 * is read for whose exit code it is, and `/proc` for the ports of what still runs.
 *
 * @param result What `run()` or a live process's `result` resolved to.
 * @throws {InputError} It is no such thing.
 */
export async function receiptOf(result: RunResult): Promise<Receipt> {
  if (typeof result !== 'object' || result === null || !('outcome' in result)) {
    throw new InputError(`result: expected what run() resolved to, got ${showValue(result)}`);
  }
  return makeReceipt(result, {});
}

/**
 * The receipt of a command of a contract. On every call's way: nearly always nothing has to be looked
 * up, and it is there at once.
 */
export function makeReceipt(
  result: ReceiptSource,
  context: ReceiptContext,
): Receipt | Promise<Receipt> {
  const { background, outcome, command } = result;
  const { text = command } = context;
  const isOpen = background.length > 0 || (outcome.kind === 'exited' && mayHavePipelineCode(text));
  return isOpen ? lookAndMake(result, context) : receiptWith(result, context, NOTHING_FOUND);
}

/** What had to be looked up. */
interface Findings {
  readonly exitCodeOf: PipelineCode | undefined;
  readonly background: readonly RunningProcess[];
  readonly troubles: readonly string[];
}

const NOTHING_FOUND: Findings = { exitCodeOf: undefined, background: [], troubles: [] };

async function lookAndMake(result: ReceiptSource, context: ReceiptContext): Promise<Receipt> {
  const isApart = result.sandbox?.enforced.processes === 'namespace';
  const running = await lookAt(result.background, isApart);
  const exitCodeOf = await pipelineCodeOf(result, context);
  return receiptWith(result, context, { ...running, exitCodeOf });
}

function receiptWith(result: ReceiptSource, context: ReceiptContext, found: Findings): Receipt {
  const { pid, outcome, outOfMemory, durationMs, cpu, peakMemory, spill, notLowered } = result;
  const { exitCodeOf, background } = found;
  const kept = 'kept' in context ? context.kept : spill && keptBySpill(spill);
  const keptError = context.keptError ?? (spill?.error && describeSpillError(spill.error));
  const notKept = keptError === undefined ? [] : [`the output is not kept whole: ${keptError}`];
  const troubles = [...found.troubles, ...(context.troubles ?? []), ...notKept];
  const incomplete = incompleteNotice(result.sandbox);
  if (incomplete !== undefined) troubles.unshift(incomplete);
  if (notLowered !== undefined) troubles.push(describeNotLowered(notLowered));
  if (result.limits?.memoryBytes === 'oom-score') troubles.push(NOT_LIMITED);
  const streams = streamsOf(result, context.cut);
  // One literal: what is nearly never there is put in afterwards.
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
  if (kept !== undefined) receipt.kept = kept;
  if (result.sandbox !== undefined) receipt.sandbox = result.sandbox;
  if (result.limits !== undefined) receipt.limits = result.limits;
  if (result.firstRun !== undefined) receipt.firstRun = result.firstRun;
  return receipt;
}

/** A variable with which the shell may have `pipefail` set before the text begins. */
const STEERED = /(?:^|\0)(?:BASH_ENV|SHELLOPTS)=/;

async function pipelineCodeOf(
  { command, outcome }: ReceiptSource,
  { text = command, environment = '', hasPipefail = STEERED.test(environment) }: ReceiptContext,
): Promise<PipelineCode | undefined> {
  if (outcome.kind !== 'exited' || !mayHavePipelineCode(text)) return undefined;
  if (hasPipefail) return undefined;
  // It is only help: without the parser there is none.
  const parser = await loadShellParser().catch(() => undefined);
  const script = parser && parseShell(parser, text);
  return script && findPipelineCode(parser, script, text, outcome.exitCode);
}

/** The longest that the kernel is waited for. */
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
  return `the command's priority may not be lower than that of its host: ${code}`;
}

const NOT_LIMITED =
  'the command had no control group: it could take more than limits.memoryBytes, and would have been ' +
  'ended before its host';

function describeSpillError({ code, message }: SpillError): string {
  return `${code}: ${message}`;
}
