import { startCommand } from '../command/execute.js';
import { type LimitGroups, reportOf } from '../command/limits/groups.js';
import type { StartedCommand } from '../command/promise.js';
import type { BackgroundProcess, Capture, LimitsReport, RunResult } from '../engine/outcome.js';
import type { SandboxReport } from '../engine/sandbox-report.js';
import type { ExecuteOptions } from '../options/command-options.js';
import type { CarriedBy } from '../options/roads.js';
import type { SandboxPolicy } from '../sandbox/policy.js';
import { onAbort } from '../support/abort.js';
import { settlesAtOnce, settlesWithin, startTimer } from '../support/timing.js';
import type { OutputOptions } from './call-output.js';
import { OutsideView } from './outside-view.js';
import type { NamedPipe } from './pipes.js';
import type { Report } from './reports.js';
import { launchText, withoutStartUp } from './script.js';
import { ShellSandbox } from './shell-sandbox.js';
import { Wires } from './wires.js';

type Passed = Exclude<
  CarriedBy<'persistent'>,
  'cwd' | 'encoding' | 'sandbox' | 'env' | 'inheritEnv'
>;
type PassedOptions = { readonly [Name in Passed | 'owner']: ExecuteOptions[Name] };

/** How a shell is started. Times in milliseconds. */
interface ShellStart extends PassedOptions {
  readonly sandbox: SandboxPolicy | undefined;
  /** Where its pipes are to be; undefined: in a directory of their own. */
  readonly pipes: string | undefined;
  readonly cwd: string;
  /** The environment block. */
  readonly environment: string;
}

/** What a call asks of a shell. */
export interface ShellCall extends OutputOptions {
  readonly text: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Why a shell was ended in the middle of a call; `lost`: it has passed over words of ours. */
export type ShellStop = 'timedOut' | 'cancelled' | 'lost';

/** How a call has ended: with its shell still there, or together with it. */
type CallEnd =
  | {
      readonly kind: 'reported';
      readonly exitCode: number;
      /** What of it still runs; undefined: that cannot be seen. */
      readonly background: readonly BackgroundProcess[] | undefined;
      /** Where the shell is; undefined: likewise. */
      readonly directory: string | undefined;
    }
  | {
      readonly kind: 'shellEnded';
      readonly shell: RunResult;
      /** Why we ended it; undefined: nobody here did. */
      readonly reason: ShellStop | undefined;
    };

/** A call's report, or why its shell has ended without one. */
type Over = Report | { readonly reason: ShellStop | undefined };

/** A call that is over. */
export interface ShellAnswer {
  readonly end: CallEnd;
  /** Whether the shell has begun with its text; undefined: it has passed over words of ours. */
  readonly hasBegun: boolean | undefined;
  /** `pipefail` was set before the call. */
  readonly hadPipefail: boolean;
  readonly stdout: Capture;
  readonly stderr: Capture;
  readonly durationMs: number;
  /** What its sandbox has kept it from; present when it was in one. */
  readonly sandbox: SandboxReport | undefined;
  /** The shell's own control group has counted, in the call, that a process was ended for that. */
  readonly ranOutOfMemory: boolean;
}

/** What the shell itself prints before its first call: why it would not start, and start-up files. */
const OWN_OUTPUT = { headBytes: 64 * 1024, tailBytes: 0 } as const;

const GONE_MS = 100;

const ALONE = { takesInput: false, started: () => {}, tell: () => {} };

/** One bash that is given one command after the other. While none runs, the host may exit. */
export class PersistentShell {
  readonly pid: number;
  /** The environment block that it was started with. */
  readonly environment: string;
  /** By what its limits are kept; undefined: it has none. */
  readonly limits: LimitsReport | undefined;
  /** Settles once it has ended and nothing of it is left here. */
  readonly ended: Promise<RunResult>;
  readonly #process: StartedCommand;
  readonly #sandbox: ShellSandbox | undefined;
  readonly #wires: Wires;
  readonly #view: OutsideView;
  #memoryKills = 0;
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
    this.limits = limits && reportOf(limits, process.groups);
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
   * Starts one. It may still turn out that it does not get as far as its first command.
   *
   * @throws {LaunchError} It could not be started.
   * @throws {PipesError} There is no place for its pipes.
   */
  static async start(start: ShellStart): Promise<PersistentShell> {
    const wires = await Wires.open(start.pipes);
    try {
      const { cwd, shell, graceMs, priority, umask, limits, owner } = start;
      const sandbox = start.sandbox && new ShellSandbox(start.sandbox, start);
      const [environment, startUp] = withoutStartUp(start.environment);
      const options = {
        ...{ cwd, shell, graceMs, priority, umask, sandbox: sandbox?.policy, limits, owner },
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

  /** How it has ended; undefined: it runs, as far as is known. */
  get end(): RunResult | undefined {
    return this.#end;
  }

  /** It has come as far as its first command. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Has it run a text. Only one call at a time.
   *
   * @throws {PipesError | LaunchError} The pipes cannot be made; nothing was run.
   * @throws {InputError} The text has a secret of the sandbox in it.
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
      // One that nobody has ever opened has no end by itself.
      if (!wasOpened) output.close();
      const hasBegun = this.#hasBegun(over, wasOpened);
      const isLost = hasBegun === undefined && seen.kind === 'reported';
      const end = isLost ? await this.#lose() : seen;
      const [stdout, stderr] = [output.stdout.capture(), output.stderr.capture()];
      const told = { stdout, stderr, durationMs, startedAt, from, marks };
      const sandbox = await this.#sandbox?.reportOf(told, await this.#toldOf(end));
      const { groups } = this.#process;
      const ranOutOfMemory = groups !== undefined && (await this.#hasKilled(groups));
      return { end, hasBegun, hadPipefail, stdout, stderr, durationMs, sandbox, ranOutOfMemory };
    } finally {
      this.#process.handle.holdHost(false);
    }
  }

  /** Ends it, with everything it has started. */
  async stop(): Promise<void> {
    this.#process.handle.holdHost(true);
    this.#process.handle.cancel();
    await this.ended;
  }

  /** What the engine tells of the sandbox since the call before. */
  async #toldOf(end: CallEnd): Promise<SandboxReport | undefined> {
    if (end.kind === 'shellEnded') return end.shell.sandbox;
    return (await this.#process.handle.sandbox?.()) ?? this.#end?.sandbox;
  }

  #hasBegun(over: Over, wasOpened: boolean): boolean | undefined {
    if ('status' in over && over.status === undefined) return false;
    if (wasOpened) return true;
    const isByItself = 'reason' in over && over.reason === undefined;
    return isByItself ? this.#wires.isTaken : undefined;
  }

  /** It is of no use any more. */
  async #lose(): Promise<CallEnd> {
    this.#process.handle.cancel();
    return { kind: 'shellEnded', shell: await this.ended, reason: 'lost' };
  }

  /** Whether somebody beside the shell itself may have a call's pipes open. */
  #areHeld(end: CallEnd, pipes: readonly NamedPipe[]): boolean {
    // A shell that has ended holds none: they have an end when the others are gone.
    if (end.kind === 'shellEnded' || end.background === undefined) return true;
    return end.background.length > 0 && this.#view.areHeld(pipes);
  }

  /** Waits for the call's report; why the shell had to be ended, or has, if none came. */
  async #untilOver(
    report: Promise<Report>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Over> {
    let reason: ShellStop | undefined;
    const stop = (why: ShellStop): void => {
      reason ??= why;
      this.#process.handle.cancel();
    };
    const offTimer = startTimer(timeoutMs, () => stop('timedOut'), 'keepsAlive');
    const offAbort = signal && onAbort(signal, () => stop('cancelled'));
    const offWatch = this.#wires.watch(() => stop('lost'));
    try {
      const told = await Promise.race([report, this.#process.result.then(() => undefined)]);
      // It exits with that.
      if (told !== undefined && told.status === undefined) await this.ended;
      if (told !== undefined && reason === undefined) return told;
      await this.ended;
      // It may have reported, and ended before that was read here.
      return reason === undefined && (await settlesAtOnce(report)) ? report : { reason };
    } finally {
      offTimer();
      offAbort?.();
      offWatch();
    }
  }

  /** What is to be seen of the end of a call while its output is being read. */
  async #lookAt(over: Over): Promise<CallEnd> {
    if ('reason' in over) {
      return { kind: 'shellEnded', shell: await this.#process.result, reason: over.reason };
    }
    this.#hasPipefail = over.options.has('pipefail');
    const directory = this.#view.directory();
    const background = await this.#view.newcomers();
    // It may have reported and ended; that comes by another way.
    if (directory === undefined) await settlesWithin(this.ended, GONE_MS, 'keepsAlive');
    const { background: left, directory: last } = this.#end ?? {};
    return {
      kind: 'reported',
      exitCode: over.status ?? 1,
      background: left ?? background,
      directory: last ?? directory,
    };
  }

  /** Whether its control group has counted one more that was ended for want of memory. */
  async #hasKilled(groups: LimitGroups): Promise<boolean> {
    const before = this.#memoryKills;
    this.#memoryKills = await groups.memoryKillsSoFar();
    return this.#memoryKills > before;
  }

  async #clearAway(): Promise<RunResult> {
    const result = await this.#process.result;
    this.#end = result;
    this.#view.close();
    await this.#wires.close();
    return result;
  }
}
