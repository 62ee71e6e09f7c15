import { startCommand } from '../command/execute.js';
import { reportOf } from '../command/limits/groups.js';
import type { StartedCommand } from '../command/promise.js';
import type { NamedPipe } from '../engine/local-stream.js';
import type { BackgroundProcess, Capture, RunResult } from '../engine/outcome.js';
import type { EngineReport } from '../engine/sandbox-report.js';
import type { LimitsReport } from '../engine/told/limits-report.js';
import type { ExecuteOptions } from '../options/command-options.js';
import type { CommandLimits } from '../options/limits.js';
import type { CarriedBy } from '../options/roads.js';
import type { SandboxPolicy } from '../sandbox/policy.js';
import { onAbort } from '../support/abort.js';
import { firstOf, settlesAtOnce, settlesWithin, startTimer } from '../support/timing.js';
import type { OutputOptions } from './call-output.js';
import { LimitCounts, type LimitNews } from './limit-counts.js';
import { OutsideView } from './outside-view.js';
import type { ShellReport } from './reports.js';
import { launchText, withoutStartUp } from './script.js';
import { reportIn, ShellSandbox } from './shell-sandbox.js';
import { Wires } from './wires.js';

type Passed = Exclude<
  CarriedBy<'persistent'>,
  'cwd' | 'encoding' | 'sandbox' | 'undo' | 'env' | 'inheritEnv'
>;
type PassedOptions = { readonly [Name in Passed | 'owner']: ExecuteOptions[Name] };

/** Options for the start of a shell. Times in milliseconds. */
interface ShellStart extends PassedOptions {
  readonly sandbox: SandboxPolicy | undefined;
  /** The directory for the pipes; undefined: a directory of their own. */
  readonly pipes: string | undefined;
  readonly cwd: string;
  /** The environment block. */
  readonly environment: string;
}

/** A call for a shell. */
export interface ShellCall extends OutputOptions {
  readonly text: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The reason for ending a shell in the middle of a call; `lost`: bash has skipped commands of ours. */
export type ShellStop = 'timedOut' | 'cancelled' | 'lost';

/** The end of a call: reported by its shell, or together with it. */
type CallEnd =
  | {
      readonly kind: 'reported';
      readonly exitCode: number;
      /** Processes of the call that still run; undefined: they cannot be seen. */
      readonly background: readonly BackgroundProcess[] | undefined;
      /** The shell's directory; undefined: it cannot be seen. */
      readonly directory: string | undefined;
    }
  | {
      readonly kind: 'shellEnded';
      readonly shell: RunResult;
      /** Why the host ended the shell; undefined: it ended by itself. */
      readonly reason: ShellStop | undefined;
    };

/** A call's report, or the reason why its shell has ended without one. */
type Over = ShellReport | { readonly reason: ShellStop | undefined };

/** The result of a call. */
export interface ShellAnswer {
  readonly end: CallEnd;
  /** Whether the shell has begun with the text; undefined: bash has skipped commands of ours. */
  readonly hasBegun: boolean | undefined;
  /** Whether `pipefail` was set before the call. */
  readonly hadPipefail: boolean;
  readonly stdout: Capture;
  readonly stderr: Capture;
  readonly durationMs: number;
  /** The report of the sandbox; undefined: there is no sandbox. */
  readonly sandbox: EngineReport | undefined;
  /** What the shell's control groups have counted during the call. */
  readonly counted: LimitNews;
}

/** Limits of the output before the first call: of start-up files, or why the shell does not start. */
const OWN_OUTPUT = { headBytes: 64 * 1024, tailBytes: 0 } as const;

const GONE_MS = 100;

const ALONE = { takesInput: false, started: () => {}, tell: () => {} };

/** One bash that is given one command after another. Between calls it does not keep the host alive. */
export class PersistentShell {
  readonly pid: number;
  /** The environment block of its start. */
  readonly environment: string;
  /** Its limits, and how they are enforced; undefined: it has none. */
  readonly limits: { readonly asked: CommandLimits; readonly report: LimitsReport } | undefined;
  /** Settles when the shell has ended and its pipes are removed. */
  readonly ended: Promise<RunResult>;
  readonly #process: StartedCommand;
  readonly #sandbox: ShellSandbox | undefined;
  readonly #wires: Wires;
  readonly #view: OutsideView;
  readonly #counts: LimitCounts;
  #end: RunResult | undefined;
  #isReady = false;
  #hasPipefail = false;

  private constructor(
    process: StartedCommand,
    wires: Wires,
    { environment, cwd, limits }: ShellStart,
    sandbox: ShellSandbox | undefined,
  ) {
    this.pid = process.pid;
    this.environment = environment;
    this.limits = limits && { asked: limits, report: reportOf(limits, process.groups) };
    this.#counts = new LimitCounts(process.groups);
    this.#process = process;
    this.#sandbox = sandbox;
    this.#wires = wires;
    this.#view = new OutsideView(process.pid);
    this.ended = this.#clearAway();
    process.handle.holdHost(false);
    wires.begin(cwd, withoutStartUp(environment)[1]).then(({ options }) => {
      this.#isReady = true;
      this.#hasPipefail = options.has('pipefail');
    });
  }

  /**
   * Starts a shell, which may still end before its first command.
   *
   * @throws {LaunchError} The shell could not be started.
   * @throws {PipesError} The pipes cannot be made.
   */
  static async start(start: ShellStart): Promise<PersistentShell> {
    const wires = await Wires.open(start.pipes);
    try {
      const { cwd, shell, graceMs, priority, umask, onExec, limits, owner } = start;
      const sandbox = start.sandbox && new ShellSandbox(start.sandbox, start);
      const [environment, startUp] = withoutStartUp(start.environment);
      const options = {
        ...{ cwd, shell, graceMs, priority, umask, sandbox: sandbox?.policy },
        ...{ onExec, limits, owner },
        ...OWN_OUTPUT,
        streams: 'separate',
        followDirectory: true,
      } as const;
      const text = launchText(wires.directory, startUp);
      const process = await startCommand(text, environment, options, ALONE);
      return new PersistentShell(process, wires, start, sandbox);
    } catch (error) {
      await wires.close();
      throw error;
    }
  }

  /** The result of the shell; undefined: as far as is known, it runs. */
  get end(): RunResult | undefined {
    return this.#end;
  }

  /** Whether the shell has got as far as its first command. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Runs a text. Only one call at a time is allowed.
   *
   * @throws {PipesError | LaunchError} The pipes cannot be made; nothing was run.
   * @throws {InputError} The text contains a secret of the sandbox.
   */
  async run({ text, timeoutMs, signal, ...options }: ShellCall): Promise<ShellAnswer> {
    this.#sandbox?.check(text);
    const hadPipefail = this.#hasPipefail;
    this.#process.handle.holdHost(true);
    try {
      const startedAt = performance.now();
      const from = this.#sandbox && this.#view.directory();
      const marks = this.#sandbox?.mark() ?? [];
      const { output, report } = await this.#wires.call(text, options);
      const over = await this.#untilOver(report, timeoutMs, signal);
      const durationMs = performance.now() - startedAt;
      const seen = await this.#lookAt(over);
      await output.finish(() => this.#areHeld(seen, [output.stdout.pipe, output.stderr.pipe]));
      const wasOpened = await output.wasOpened();
      // A pipe that was never opened for writing has no end by itself.
      if (!wasOpened) output.close();
      const hasBegun = this.#hasBegun(over, wasOpened);
      const isLost = hasBegun === undefined && seen.kind === 'reported';
      const end = isLost ? await this.#lose() : seen;
      const [stdout, stderr] = [output.stdout.capture(), output.stderr.capture()];
      const told = { stdout, stderr, durationMs, startedAt, from, marks };
      const sandbox = await this.#sandbox?.reportOf(told, await this.#toldOf(end));
      const counted = await this.#counts.look();
      return { end, hasBegun, hadPipefail, stdout, stderr, durationMs, sandbox, counted };
    } finally {
      this.#process.handle.holdHost(false);
    }
  }

  /** Ends the shell, with all that it has started. */
  async stop(): Promise<void> {
    this.#process.handle.holdHost(true);
    this.#process.handle.cancel();
    await this.ended;
  }

  /** Returns the engine's report about the sandbox since the call before. */
  async #toldOf(end: CallEnd): Promise<EngineReport | undefined> {
    if (end.kind === 'shellEnded') return reportIn(end.shell);
    return (await this.#process.handle.sandbox?.()) ?? (this.#end && reportIn(this.#end));
  }

  #hasBegun(over: Over, wasOpened: boolean): boolean | undefined {
    if ('status' in over && over.status === undefined) return false;
    if (wasOpened) return true;
    const isByItself = 'reason' in over && over.reason === undefined;
    return isByItself ? this.#wires.isTaken : undefined;
  }

  /** Ends a shell that is of no use any more. */
  async #lose(): Promise<CallEnd> {
    this.#process.handle.cancel();
    return { kind: 'shellEnded', shell: await this.ended, reason: 'lost' };
  }

  /** Returns whether a process besides the shell itself may have a call's pipes open. */
  #areHeld(end: CallEnd, pipes: readonly NamedPipe[]): boolean {
    // After the end of the shell, the pipes have EOF when all other processes have closed them.
    if (end.kind === 'shellEnded' || end.background === undefined) return true;
    return end.background.length > 0 && this.#view.areHeld(pipes);
  }

  /** Waits for the call's report. Returns it, or the reason why the shell has ended without one. */
  async #untilOver(
    report: Promise<ShellReport>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Over> {
    let reason: ShellStop | undefined;
    const stop = (why: ShellStop): void => {
      reason ??= why;
      if (why === 'timedOut') this.#process.handle.expire();
      else this.#process.handle.cancel();
    };
    const offTimer = startTimer(timeoutMs, () => stop('timedOut'), 'keepsAlive');
    const offAbort = signal && onAbort(signal, () => stop('cancelled'));
    const offWatch = this.#wires.watch(() => stop('lost'));
    try {
      const first = await firstOf<ShellReport | RunResult>(report, this.#process.result);
      const told = 'status' in first ? first : undefined;
      // Then the shell exits by itself.
      if (told !== undefined && told.status === undefined) await this.ended;
      if (told !== undefined && reason === undefined) return told;
      await this.ended;
      // The shell may have ended after a report that is not read yet.
      return reason === undefined && (await settlesAtOnce(report)) ? report : { reason };
    } finally {
      offTimer();
      offAbort?.();
      offWatch();
    }
  }

  /** Examines the end of a call, while its output is being read. */
  async #lookAt(over: Over): Promise<CallEnd> {
    if ('reason' in over) {
      return { kind: 'shellEnded', shell: await this.#process.result, reason: over.reason };
    }
    this.#hasPipefail = over.options.has('pipefail');
    const directory = this.#view.directory();
    const background = await this.#view.newcomers();
    // The shell may have reported and then ended, which the engine reports separately.
    if (directory === undefined) await settlesWithin(this.ended, GONE_MS, 'keepsAlive');
    const { background: left, directory: last } = this.#end ?? {};
    return {
      kind: 'reported',
      exitCode: over.status ?? 1,
      background: left ?? background,
      directory: last ?? directory,
    };
  }

  async #clearAway(): Promise<RunResult> {
    const result = await this.#process.result;
    this.#end = result;
    this.#view.close();
    await this.#wires.close();
    return result;
  }
}
