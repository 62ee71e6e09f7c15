import { signalName } from '../support/signals.js';
import { engineName } from './choice.js';
import type { EngineEnd, EngineOutcome } from './message.js';
import type {
  BaseResult,
  Canceller,
  Capture,
  Ending,
  MergedResult,
  Outcome,
  RunResult,
  SeparateResult,
} from './outcome.js';
import { NOTHING_HELD } from './sandbox-report.js';
import { errorCode } from './system-error.js';
import { sandboxFacts, toReport } from './told/report.js';
import { toTimeoutReason } from './told/timeout-reason.js';

/** The parts of the request that a result depends on. */
export interface Requested {
  readonly command: string;
  /** A program and its arguments, which run without a shell. */
  readonly argv: readonly string[] | undefined;
  readonly separate: boolean;
  readonly timeoutMs: number | undefined;
  readonly spillPath: string | undefined;
}

/**
 * Makes the result of a command that ran, or that was cancelled before.
 *
 * @param by The source of the cancellation, if there was one.
 */
export function toResult(
  end: Exclude<EngineEnd, { kind: 'failed' | 'lost' }>,
  asked: Requested,
  by: Canceller,
): RunResult {
  if (end.kind === 'neverStarted') return neverStarted(asked, by);
  const whole = asked.separate ? separateResult(end, asked, by) : mergedResult(end, asked, by);
  const result = end.engine === 'native' ? whole : withoutFigures(whole);
  const isPlain = end.spill === undefined && end.directory === undefined && end.share === 0;
  if (isPlain && end.sandbox === undefined) return result;
  return {
    ...result,
    ...(end.spill && { spill: { path: asked.spillPath ?? '', ...end.spill } }),
    ...(end.directory !== undefined && { directory: end.directory }),
    ...(end.share !== 0 && { notLowered: { code: errorCode(end.share), errno: end.share } }),
    ...(end.sandbox !== undefined && sandboxFacts(toReport(end.sandbox))),
  };
}

/** Removes figures that the engine cannot measure, so that they do not read as 0. */
function withoutFigures({ cpu: _, peakMemory: __, ...known }: RunResult): RunResult {
  return known;
}

// Both functions are written out: a spread of one result into the other costs as much as all the rest.

function mergedResult(end: EngineOutcome, asked: Requested, by: Canceller): MergedResult {
  return {
    command: asked.command,
    pid: end.pid,
    outcome: toOutcome(end, asked.timeoutMs, by, asked.command),
    durationMs: end.durationMs,
    engine: end.engine,
    cpu: { userMs: end.userMs, systemMs: end.systemMs },
    peakMemory: { kind: 'measured', bytes: end.peakBytes },
    background: end.background,
    heldBack: NOTHING_HELD,
    output: end.captures[0] ?? NO_OUTPUT,
  };
}

function separateResult(end: EngineOutcome, asked: Requested, by: Canceller): SeparateResult {
  return {
    command: asked.command,
    pid: end.pid,
    outcome: toOutcome(end, asked.timeoutMs, by, asked.command),
    durationMs: end.durationMs,
    engine: end.engine,
    cpu: { userMs: end.userMs, systemMs: end.systemMs },
    peakMemory: { kind: 'measured', bytes: end.peakBytes },
    background: end.background,
    heldBack: NOTHING_HELD,
    stdout: end.captures[0] ?? NO_OUTPUT,
    stderr: end.captures[1] ?? NO_OUTPUT,
  };
}

/** Makes the result of a command that the caller cancelled before it ran. */
export function neverStarted(asked: Requested, by: Canceller): RunResult {
  const base: BaseResult = {
    command: asked.command,
    pid: 0,
    outcome: { kind: 'cancelled', by, forced: false, ending: { kind: 'neverStarted' } },
    durationMs: 0,
    engine: engineName(),
    cpu: { userMs: 0, systemMs: 0 },
    peakMemory: { kind: 'measured', bytes: 0 },
    background: [],
    heldBack: NOTHING_HELD,
  };
  if (asked.separate) return { ...base, stdout: NO_OUTPUT, stderr: NO_OUTPUT };
  return { ...base, output: NO_OUTPUT };
}

const NO_OUTPUT: Capture = {
  kind: 'complete',
  text: '',
  total: { bytes: 0, characters: 0, lines: 0 },
  lossy: false,
};

/** Returns how a command ended, and why. */
export function toOutcome(
  end: Pick<EngineOutcome, 'status' | 'cause' | 'forced' | 'reason'>,
  timeoutMs: number | undefined,
  by: Canceller,
  command: string,
): Outcome {
  const ending = toEnding(end);
  if (end.cause === 'itself') return ending;
  if (end.cause === 'cancelled') return { kind: 'cancelled', by, forced: end.forced, ending };
  const reason = end.reason ? toTimeoutReason(end.reason, command) : undefined;
  const known = { timeoutMs: timeoutMs ?? 0, forced: end.forced, ending };
  return { kind: 'timedOut', ...known, ...(reason && { reason }) };
}

function toEnding({
  status,
}: Pick<EngineOutcome, 'status'>): Exclude<Ending, { kind: 'neverStarted' }> {
  if (status >= 0) return { kind: 'exited', exitCode: status };
  if (status > -256) return { kind: 'signaled', signal: signalName(-status) };
  return { kind: 'unknown' };
}
