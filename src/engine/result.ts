import { existsSync } from 'node:fs';
import { signalName } from '../support/signals.js';
import { toAgentNews } from './agents/agent-news.js';
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
import { type Denial, type EngineReport, NOTHING_HELD, toSandboxPort } from './sandbox-report.js';
import { errorCode } from './system-error.js';
import { toTimeoutReason } from './timeout-reason.js';

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
    ...(end.sandbox !== undefined && { sandbox: toReport(end.sandbox) }),
  };
}

/** Removes figures that the engine cannot measure, so that they do not read as 0. */
function withoutFigures({ cpu: _, peakMemory: __, ...known }: RunResult): RunResult {
  return known;
}

/**
 * Parses the engine's report on a sandbox.
 *
 * @param lines `write=namespace tmp=none`, and denials: `socket=40`, a family, or `connect=/a%20b`, a
 * socket by its path, or an address; `held=` and the id of a change that was held back; `lost=` and the path of
 * one that could not be; `port=3000,3001,7,node,0`, a published port; what agents have signed or refused; `renewed=yes`.
 */
export function toReport(lines: string): EngineReport {
  const all = [...new Set(lines.split(' '))].map((line): [string, string] => {
    const [name = '', value = ''] = line.split('=');
    return [name, value];
  });
  const denials = all.flatMap(([name, value]) => toDenial(name, value) ?? []);
  const heldIds = all.flatMap(([name, value]) => (name === 'held' ? value : []));
  const ports = all.flatMap(([name, value]) =>
    name === 'port' ? (toSandboxPort(value) ?? []) : [],
  );
  const signatures = all.flatMap(([name, value]) => {
    const news = toAgentNews(name, value);
    return news !== undefined && 'signature' in news ? news.signature : [];
  });
  const isRule = ([name, value]: [string, string]): boolean =>
    !TOLD.has(name) && !toDenial(name, value) && !toAgentNews(name, value);
  const { renewed, ...enforced } = Object.fromEntries(all.filter(isRule));
  const lost = all.flatMap(([name, value]) => (name === 'lost' ? decodeURIComponent(value) : []));
  const isHidden = enforced.write === 'namespace' && areProcessesHidden();
  const unseen = [
    ...(isHidden ? [HIDDEN] : []),
    ...lost.map((path) => `what was written to ${path} is not in effect, and was not held back`),
  ];
  // Landlock alone does not tell it, nor do older keepers of detached commands.
  const settings = enforced.write === 'namespace' ? 'mount' : 'none';
  return {
    enforced: { settings, ...enforced } as EngineReport['enforced'],
    writable: [],
    denials,
    ...(heldIds.length > 0 && { heldIds }),
    ...(ports.length > 0 && { ports }),
    ...(signatures.length > 0 && { signatures }),
    ...(renewed !== undefined && { renewed: true }),
    ...(unseen.length > 0 && { unseen }),
  };
}

/** The names of lines that are neither about what enforces a rule nor denials. */
const TOLD = new Set(['held', 'lost', 'port']);

const HIDDEN =
  "/proc hides other users' processes (hidepid), by which the kernel's denials, what is held back, published ports and requests to agents are told";
let isHiding: boolean | undefined;

/** Returns whether `/proc` shows only the processes of this user: then those in a sandbox are hidden, too. */
export function areProcessesHidden(): boolean {
  isHiding ??= existsSync('/proc/self/stat') && !existsSync('/proc/1/stat');
  return isHiding;
}

function toDenial(name: string, value: string): Denial | undefined {
  const news = toAgentNews(name, value);
  if (news !== undefined) return 'denial' in news ? news.denial : undefined;
  if (name === 'connect') {
    const target = decodeURIComponent(value);
    const rule = target.startsWith('/') ? 'allowUnixSockets' : 'network';
    return { kind: 'connect', target, rule, source: 'kernel' };
  }
  if (name !== 'socket') return undefined;
  const family = Number(value);
  const rule = family === 2 || family === 10 ? 'network' : 'socketFamilies';
  const target = SOCKET_FAMILIES[family] ?? `AF_${family}`;
  return { kind: 'socket', target, rule, source: 'kernel' };
}

/** Names of the socket families that programs use. */
const SOCKET_FAMILIES: Readonly<Record<number, string>> = {
  2: 'AF_INET',
  10: 'AF_INET6',
  16: 'AF_NETLINK',
  17: 'AF_PACKET',
  29: 'AF_CAN',
  31: 'AF_BLUETOOTH',
  38: 'AF_ALG',
  40: 'AF_VSOCK',
  44: 'AF_XDP',
};

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
