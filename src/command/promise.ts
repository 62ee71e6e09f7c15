import type { OnExec } from '../engine/exec/exec-request.js';
import { LaunchError } from '../engine/launch-error.js';
import type { CommandEvents, EngineChunk, EngineCommand, EngineEnd } from '../engine/message.js';
import type { Canceller, RunResult, StreamName } from '../engine/outcome.js';
import { hostOwner, type Owner } from '../engine/owner.js';
import type { CommandHandle } from '../engine/process.js';
import { type Requested, toResult } from '../engine/result.js';
import type { CommandLimits } from '../options/limits.js';
import { isTraced } from '../receipt/channel.js';
import { traceCommand } from '../receipt/trace.js';
import type { OwnCommand } from '../sandbox/git/checkout/checkout.js';
import { toldFromThere } from '../sandbox/held/elsewhere.js';
import { abortReason, onAbort } from '../support/abort.js';
import { callOut, failing } from '../support/errors.js';
import { nextTurn, refused, settlesAtOnce, UnderWay } from '../support/timing.js';
import { needsChecks, withChecks } from './after/checks.js';
import { SpillFile } from './after/spill-check.js';
import { startFor } from './hosts.js';
import { LimitGroups, needsGroups } from './limits/groups.js';

/** A command with checked options, its owner, its limits and its callbacks. */
export interface CommandJob {
  readonly command: EngineCommand;
  readonly request: Requested;
  /** The owner of the command. Default: the host process. */
  readonly owner: Owner | undefined;
  /** Ends the command when aborted. */
  readonly signal?: AbortSignal | undefined;
  readonly limits?: CommandLimits | undefined;
  /** The control groups made for the limits. */
  readonly groups?: LimitGroups;
  /**
   * Called with each chunk of output. If the callback throws, or returns a promise that is rejected before
   * the command has ended, the command is ended and the caller gets that error.
   */
  readonly output?: ((chunk: EngineChunk, stream: StreamName) => unknown) | undefined;
  /** Answers whether a program may be executed. */
  readonly onExec?: OnExec | undefined;
  /** Called when `output` has had all chunks of a delivery. */
  readonly delivered?: ((handle: CommandHandle) => void) | undefined;
  /** Called when no more output follows. */
  readonly closed?: () => void;
}

/** A command that has been started. */
export interface StartedCommand {
  readonly pid: number;
  readonly handle: CommandHandle;
  /** The control groups made for the command's limits. */
  readonly groups: LimitGroups | undefined;
  /** Settles once the command has ended; rejects only if the `CommandHost` that ran it was lost. */
  readonly result: Promise<RunResult>;
}

/** The caller's interest in the start of a command. */
interface Start {
  readonly running: (pid: number, handle: CommandHandle, groups?: LimitGroups) => void;
  /** Whether a command that never starts counts as a failure. */
  readonly isAwaited: boolean;
}

/**
 * Runs a command to its end.
 *
 * @param running Called once the command runs.
 * @throws {LaunchError} The command could not be started.
 * @throws The error that `output` threw, or with which its promise was rejected.
 */
export function untilEnded(job: CommandJob, running?: Start['running']): Promise<RunResult> {
  const start = running && { running, isAwaited: false };
  return new Promise((resolve) => attempt(job, resolve, resolve, start));
}

/**
 * Starts a command, and resolves once it runs.
 *
 * @throws {LaunchError} The command could not be started.
 * @throws The reason of the aborted signal, or an Error: the owner was disposed of meanwhile.
 */
export function onceStarted(job: CommandJob): Promise<StartedCommand> {
  return new Promise((started) => {
    let settle: (result: RunResult | Promise<RunResult>) => void = () => {};
    const result = new Promise<RunResult>((resolve) => {
      settle = resolve;
    });
    // The `CommandHost` may be lost while no caller waits for the result: no unhandled rejection then.
    result.catch(() => {});
    const running: Start['running'] = (pid, handle, groups) =>
      started({ pid, handle, groups, result });
    attempt(job, settle, started, { running, isAwaited: true });
  });
}

/** Begins a command; an error before its start is a failure. */
function attempt(
  job: CommandJob,
  settle: (result: RunResult | Promise<RunResult>) => void,
  fail: (failure: Promise<never>) => void,
  start?: Start,
): void {
  try {
    begin(job, settle, fail, start);
  } catch (error) {
    fail(refused(error));
  }
}

/** Starts a command once its limits have their control groups. Subscribers of the command channel see it. */
function begin(
  job: CommandJob,
  settle: (result: RunResult | Promise<RunResult>) => void,
  fail: (failure: Promise<never>) => void,
  start?: Start,
): void {
  const { limits } = job;
  if (limits !== undefined && job.groups === undefined && needsGroups(limits)) {
    LimitGroups.make(limits)
      .then((groups) => {
        const command = groups.appliedTo(job.command);
        begin({ ...job, command, groups }, settle, fail, start);
      })
      .catch((error) => fail(refused(error)));
    return;
  }
  if (!isTraced()) {
    new Execution(job, settle, fail, start).begin();
    return;
  }
  const { text: command, directory: cwd, timeoutMs } = job.command;
  traceCommand({ command, cwd, timeoutMs, detached: false }, (ended) => {
    const traced =
      <T extends RunResult | Promise<RunResult>>(settleWith: (end: T) => void) =>
      (end: T): void => {
        settleWith(end);
        ended(end);
      };
    new Execution(job, traced(settle), traced(fail), start).begin();
  });
}

/** Returns whether a result needs no facts from the system. A quick test, which nearly all results pass. */
function isPlain(
  { outcome, sandbox, spill }: RunResult,
  limits: CommandLimits | undefined,
): boolean {
  if (limits !== undefined || sandbox !== undefined || spill !== undefined) return false;
  return outcome.kind === 'exited' && outcome.exitCode < 128;
}

/** Makes the error for a command of a disposed owner. */
export function ownerDisposed(): Error {
  return new Error('the owner of the command was disposed before it could start');
}

/** A command under way: settles the caller's promises by the events of the engine. */
class Execution implements CommandEvents {
  /** Absent when no caller waits for the start: then the engine need not report it. */
  readonly started?: (pid: number) => void;
  readonly asked: OnExec | undefined;
  readonly #job: CommandJob;
  readonly #settle: (result: RunResult | Promise<RunResult>) => void;
  readonly #fail: (failure: Promise<never>) => void;
  readonly #isStartAwaited: boolean;
  readonly #begun = performance.now();
  /** Whether the command is known to run; only set if `started` is there. */
  #isRunning = false;
  #handle: CommandHandle | undefined;
  #offAbort: (() => void) | undefined;
  /** The use of a spill file that is written from the start on. */
  #spill: SpillFile | undefined;
  /** The error that the listener threw. */
  #thrown: { reason: unknown } | undefined;
  /** The promises that the listener has returned; most listeners return none. */
  #listening: UnderWay | undefined;

  constructor(
    job: CommandJob,
    settle: (result: RunResult | Promise<RunResult>) => void,
    fail: (failure: Promise<never>) => void,
    start?: Start,
  ) {
    this.#job = job;
    this.#settle = settle;
    this.#fail = fail;
    this.#isStartAwaited = start?.isAwaited ?? false;
    this.asked = job.onExec;
    const { groups } = job;
    if (start !== undefined || groups !== undefined) {
      this.started = (pid) => {
        this.#isRunning = true;
        // The groups also hold processes that the command leaves behind, so they stay until all are gone.
        if (groups !== undefined) this.#handle?.gone().then(() => groups.remove());
        if (this.#handle !== undefined) start?.running(pid, this.#handle, groups);
      };
    }
  }

  begin(): void {
    const { command, owner = hostOwner, signal } = this.#job;
    // The owner may have been disposed of while the control groups were made.
    if (owner.isDisposed) {
      nextTurn().then(() => this.ended({ kind: 'neverStarted' }));
      return;
    }
    const handle = startFor(owner, command, this);
    this.#handle = handle;
    if (command.spillPath !== undefined && command.spillAfterBytes === undefined) {
      this.#spill = new SpillFile(command.spillPath);
    }
    this.#offAbort = signal && onAbort(signal, () => handle.cancel());
  }

  output(stream: StreamName, chunks: readonly EngineChunk[]): void {
    const { output, delivered } = this.#job;
    for (const chunk of chunks) {
      if (this.#thrown !== undefined) return;
      const settled = callOut(() => output?.(chunk, stream), this.#failed);
      if (settled === undefined) continue;
      this.#listening ??= new UnderWay();
      this.#listening.add(settled);
    }
    if (this.#thrown === undefined && this.#handle !== undefined) delivered?.(this.#handle);
  }

  ended(end: EngineEnd): void {
    this.#offAbort?.();
    this.#job.closed?.();
    // The end may come in the same turn as the output. Promises that are rejected by now count; those that
    // take longer are not waited for.
    if (this.#listening === undefined) this.#conclude(end);
    else settlesAtOnce(this.#listening.settled()).then(() => this.#conclude(end));
  }

  /** Notes the first error of the listener. Errors after the call was settled have no effect. */
  readonly #failed = (reason: unknown): void => {
    if (this.#thrown !== undefined) return;
    this.#thrown = { reason };
    this.#handle?.cancel();
  };

  #conclude(end: EngineEnd): void {
    const { request, signal, groups, limits } = this.#job;
    const isOwn = this.#spill?.close() ?? true;
    if (end.kind !== 'ran') groups?.remove();
    if (this.#thrown !== undefined) this.#fail(Promise.reject(this.#thrown.reason));
    else if (end.kind === 'failed') this.#fail(failing(() => new LaunchError(end)));
    else if (end.kind === 'lost') this.#lose(end.error);
    else if (end.kind === 'neverStarted' && this.#isStartAwaited) {
      this.#fail(failing(() => (signal?.aborted ? abortReason(signal) : ownerDisposed())));
    } else {
      const result = toResult(end, request, this.#canceller());
      const checked = end.kind === 'ran' ? end.checked : undefined;
      if (checked !== undefined) this.#settle(toldFromThere(result, checked));
      else if (!isPlain(result, limits) && needsChecks(result, limits))
        this.#settle(withChecks(result, isOwn, this.#job, this.#begun, runApart));
      else this.#settle(result);
    }
  }

  /** Rejects the promise of the start, or of the result if the command runs already. */
  #lose(error: Error): void {
    const lost = failing(() => error);
    if (this.#isRunning) this.#settle(lost);
    else this.#fail(lost);
  }

  /** The source of the cancellation, if the command was cancelled. */
  #canceller(): Canceller {
    const { signal, owner = hostOwner } = this.#job;
    if (signal?.aborted) return 'signal';
    return owner.isDisposed ? 'owner' : 'kill';
  }
}

/**
 * Runs a command of forkline itself, which is not reported to subscribers of the command channel.
 *
 * @throws {LaunchError} The command could not be started.
 */
export function runApart(
  { command, onExec }: OwnCommand,
  owner: Owner | undefined,
): Promise<RunResult> {
  const request = { command: '', argv: command.argv, separate: true, timeoutMs: command.timeoutMs };
  const job = { command, request: { ...request, spillPath: undefined }, owner, onExec };
  return new Promise((resolve) => new Execution(job, resolve, resolve).begin());
}
