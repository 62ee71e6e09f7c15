import { LaunchError } from '../engine/launch-error.js';
import type { CommandEvents, EngineChunk, EngineCommand, EngineEnd } from '../engine/message.js';
import type { Canceller, RunResult, StreamName } from '../engine/outcome.js';
import { hostOwner, type Owner } from '../engine/owner.js';
import { type CommandHandle, type CommandHost, EngineProcess } from '../engine/process.js';
import { type Requested, toResult } from '../engine/result.js';
import type { CommandLimits } from '../options/limits.js';
import { commandChannel, traceCommand } from '../receipt/trace.js';
import { markBefore } from '../sandbox/git/checkout/checkout.js';
import { abortReason, onAbort } from '../support/abort.js';
import { callOut, failing } from '../support/errors.js';
import { nextTurn, refused, settlesAtOnce, UnderWay } from '../support/timing.js';
import { needsChecks, withChecks } from './after/checks.js';
import { SpillFile } from './after/spill-check.js';
import { decoding } from './encoding/decoding.js';
import { LimitGroups, needsGroups } from './limits/groups.js';

/** Where the commands of an owner run, if that is not the engine of this process. */
const places = new WeakMap<Owner, CommandHost>();

/** The commands of this owner run there from now on, and come as text of the encoding asked for. */
export function runElsewhere(owner: Owner, host: CommandHost): void {
  places.set(owner, host);
}

/** Starts a command in the engine of this process, which is compared with the checkouts of now once it has ended. */
export function startHere(
  owner: Owner,
  command: EngineCommand,
  events: CommandEvents,
): CommandHandle {
  const { sandbox, encoding } = command;
  if (sandbox !== undefined) markBefore(command);
  const engine = encoding === undefined ? EngineProcess : decoding(EngineProcess, encoding);
  return engine.start(owner, command, events);
}

/** A command with its options checked, and who has to do with it. */
export interface Commission {
  readonly command: EngineCommand;
  readonly asked: Requested;
  /** Default: the host process. */
  readonly owner: Owner | undefined;
  /** Ends it when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  readonly limits?: CommandLimits | undefined;
  /** What those took. */
  readonly groups?: LimitGroups;
  /**
   * Takes its output as it comes. What it throws, or what a promise of its is rejected with before
   * the end, ends the command, and is what the caller gets.
   */
  readonly output?: ((chunk: EngineChunk, stream: StreamName) => unknown) | undefined;
  /** Told when `output` has had all of a delivery. */
  readonly delivered?: ((handle: CommandHandle) => void) | undefined;
  /** Told when there is nothing more to come. */
  readonly closed?: () => void;
}

/** A command that runs. */
export interface StartedCommand {
  readonly pid: number;
  readonly handle: CommandHandle;
  /** What its limits took. */
  readonly groups: LimitGroups | undefined;
  /** Settles once it has ended; rejects only when the place where it ran was lost. */
  readonly result: Promise<RunResult>;
}

/** Who is told that it runs. */
interface Start {
  readonly running: (pid: number, handle: CommandHandle, groups?: LimitGroups) => void;
  /** That it never starts is a failure. */
  readonly isAwaited: boolean;
}

/**
 * Runs a command to its end.
 *
 * @param running Told once it runs.
 * @throws {LaunchError} It could not be started.
 * @throws What `output` threw, or what its promise was rejected with.
 */
export function untilEnded(commission: Commission, running?: Start['running']): Promise<RunResult> {
  const start = running && { running, isAwaited: false };
  return new Promise((resolve) => attempt(commission, resolve, resolve, start));
}

/**
 * Starts a command, and resolves once it runs.
 *
 * @throws {LaunchError} It could not be started.
 * @throws What the signal was aborted with, or an Error: its owner was disposed of meanwhile.
 */
export function onceStarted(commission: Commission): Promise<StartedCommand> {
  return new Promise((started) => {
    let settle: (result: RunResult | Promise<RunResult>) => void = () => {};
    const result = new Promise<RunResult>((resolve) => {
      settle = resolve;
    });
    // It may be lost while nobody asks how it has ended.
    result.catch(() => {});
    const running: Start['running'] = (pid, handle, groups) =>
      started({ pid, handle, groups, result });
    attempt(commission, settle, started, { running, isAwaited: true });
  });
}

/** Begins; what stands in the way of that is a failure. */
function attempt(
  commission: Commission,
  settle: (result: RunResult | Promise<RunResult>) => void,
  fail: (failure: Promise<never>) => void,
  start?: Start,
): void {
  try {
    begin(commission, settle, fail, start);
  } catch (error) {
    fail(refused(error));
  }
}

/** Starts it, in sight of those who watch commands, once it has what its limits take. */
function begin(
  commission: Commission,
  settle: (result: RunResult | Promise<RunResult>) => void,
  fail: (failure: Promise<never>) => void,
  start?: Start,
): void {
  const { limits } = commission;
  if (limits !== undefined && commission.groups === undefined && needsGroups(limits)) {
    LimitGroups.make(limits)
      .then((groups) => {
        const command = groups.appliedTo(commission.command);
        begin({ ...commission, command, groups }, settle, fail, start);
      })
      .catch((error) => fail(refused(error)));
    return;
  }
  if (!commandChannel.hasSubscribers) {
    new Execution(commission, settle, fail, start).begin();
    return;
  }
  const { text: command, directory: cwd, timeoutMs } = commission.command;
  traceCommand({ command, cwd, timeoutMs, detached: false }, (ended) => {
    const told =
      <T extends RunResult | Promise<RunResult>>(tell: (end: T) => void) =>
      (end: T): void => {
        tell(end);
        ended(end);
      };
    new Execution(commission, told(settle), told(fail), start).begin();
  });
}

/** Returns whether an end leaves nothing for the system to tell: true of nearly all, and quickly seen. */
function isPlain(
  { outcome, sandbox, spill }: RunResult,
  limits: CommandLimits | undefined,
): boolean {
  if (limits !== undefined || sandbox !== undefined || spill !== undefined) return false;
  return outcome.kind === 'exited' && outcome.exitCode < 128;
}

/** What a command is refused with whose owner is disposed of. */
export function ownerDisposed(): Error {
  return new Error('the owner of the command was disposed before it could start');
}

/** One command under way: the engine's events as the settling of promises. */
class Execution implements CommandEvents {
  /** Absent when nobody waits for it: then the engine need not tell. */
  readonly started?: (pid: number) => void;
  readonly #commission: Commission;
  readonly #settle: (result: RunResult | Promise<RunResult>) => void;
  readonly #fail: (failure: Promise<never>) => void;
  readonly #isStartAwaited: boolean;
  readonly #begun = performance.now();
  /** Only known where somebody is told. */
  #isRunning = false;
  #handle: CommandHandle | undefined;
  #offAbort: (() => void) | undefined;
  /** A file that is written from the start on. */
  #spill: SpillFile | undefined;
  /** What the listener threw. */
  #thrown: { reason: unknown } | undefined;
  /** Promises that the listener has returned; most return none. */
  #listening: UnderWay | undefined;

  constructor(
    commission: Commission,
    settle: (result: RunResult | Promise<RunResult>) => void,
    fail: (failure: Promise<never>) => void,
    start?: Start,
  ) {
    this.#commission = commission;
    this.#settle = settle;
    this.#fail = fail;
    this.#isStartAwaited = start?.isAwaited ?? false;
    const { groups } = commission;
    if (start !== undefined || groups !== undefined) {
      this.started = (pid) => {
        this.#isRunning = true;
        // They are there for what it leaves behind, too.
        if (groups !== undefined) this.#handle?.gone().then(() => groups.remove());
        if (this.#handle !== undefined) start?.running(pid, this.#handle, groups);
      };
    }
  }

  begin(): void {
    const { command, owner = hostOwner, signal } = this.#commission;
    // It may have been disposed of while what the command needs was made.
    if (owner.isDisposed) {
      nextTurn().then(() => this.ended({ kind: 'neverStarted' }));
      return;
    }
    const handle =
      places.get(owner)?.start(owner, command, this) ?? startHere(owner, command, this);
    this.#handle = handle;
    if (command.spillPath !== undefined && command.spillAfterBytes === undefined) {
      this.#spill = new SpillFile(command.spillPath);
    }
    this.#offAbort = signal && onAbort(signal, () => handle.cancel());
  }

  output(stream: StreamName, chunks: readonly EngineChunk[]): void {
    const { output, delivered } = this.#commission;
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
    this.#commission.closed?.();
    // The end may come in the same turn as the output: what is rejected by now counts. A promise
    // that takes longer is not waited for.
    if (this.#listening === undefined) this.#conclude(end);
    else settlesAtOnce(this.#listening.settled()).then(() => this.#conclude(end));
  }

  /** The first counts; once the call has its answer, it changes nothing. */
  readonly #failed = (reason: unknown): void => {
    if (this.#thrown !== undefined) return;
    this.#thrown = { reason };
    this.#handle?.cancel();
  };

  #conclude(end: EngineEnd): void {
    const { asked, signal, groups, limits } = this.#commission;
    const isOwn = this.#spill?.close() ?? true;
    if (end.kind !== 'ran') groups?.remove();
    if (this.#thrown !== undefined) this.#fail(Promise.reject(this.#thrown.reason));
    else if (end.kind === 'failed') this.#fail(failing(() => new LaunchError(end)));
    else if (end.kind === 'lost') this.#lose(end.error);
    else if (end.kind === 'neverStarted' && this.#isStartAwaited) {
      this.#fail(failing(() => (signal?.aborted ? abortReason(signal) : ownerDisposed())));
    } else {
      const result = toResult(end, asked, this.#canceller());
      const checked = end.kind === 'ran' ? end.checked : undefined;
      if (checked !== undefined) this.#settle({ ...result, ...checked });
      else if (!isPlain(result, limits) && needsChecks(result, limits))
        this.#settle(withChecks(result, isOwn, this.#commission, this.#begun, runApart));
      else this.#settle(result);
    }
  }

  /** Whoever waits for its start, or its result, is told. */
  #lose(error: Error): void {
    const lost = failing(() => error);
    if (this.#isRunning) this.#settle(lost);
    else this.#fail(lost);
  }

  /** Who cancelled it, if anybody did. */
  #canceller(): Canceller {
    const { signal, owner = hostOwner } = this.#commission;
    if (signal?.aborted) return 'signal';
    return owner.isDisposed ? 'owner' : 'kill';
  }
}

/**
 * Runs a command of our own, which those who watch commands are not told of.
 *
 * @throws {LaunchError} It could not be started.
 */
export function runApart(command: EngineCommand, owner: Owner | undefined): Promise<RunResult> {
  const asked = { command: '', argv: command.argv, separate: true, timeoutMs: command.timeoutMs };
  const commission = { command, asked: { ...asked, spillPath: undefined }, owner };
  return new Promise((resolve) => new Execution(commission, resolve, resolve).begin());
}
