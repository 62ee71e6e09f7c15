import { exitCodeOf, type LiveProcess, type RunResult } from '../../../index.js';
import { InputError } from '../../../support/errors.js';
import type { LocalMachine } from '../../local-machine/machine.js';
import type { CommandEnd, CommandSettings, MastraClasses } from './sandbox.js';

/** A background process that can be ended. */
export interface ProcessEnds {
  kill(): Promise<boolean>;
}

/**
 * Makes Mastra's manager of processes for a machine. Its classes are extended, not copied: they keep
 * output, and an application may test for them by `instanceof`.
 *
 * @param all Told of each process, and of its end.
 */
export function processManager<Manager extends object>(
  machine: LocalMachine,
  { ProcessHandle, SandboxProcessManager }: MastraClasses<Manager>,
  all: Set<ProcessEnds>,
): Manager {
  class LocalProcess extends ProcessHandle implements ProcessEnds {
    readonly pid: string;
    exitCode: number | undefined;
    readonly #process: LiveProcess;
    readonly #end: Promise<CommandEnd>;

    constructor(process: LiveProcess, options: CommandSettings) {
      super(options);
      this.pid = String(process.pid);
      this.#process = process;
      all.add(this);
      this.#end = this.#follow();
      // The waiting caller gets the error.
      this.#end.catch(() => {});
    }

    wait(): Promise<CommandEnd> {
      return this.#end;
    }

    async kill(): Promise<boolean> {
      if (this.exitCode !== undefined) return false;
      await this.#process.kill();
      return true;
    }

    async sendStdin(text: string): Promise<void> {
      if (this.exitCode !== undefined) {
        throw new InputError(`stdin: process ${this.pid} has ended with ${this.exitCode}`);
      }
      await this.#process.write(text);
    }

    async closeStdin(): Promise<void> {
      this.#process.end();
    }

    async #follow(): Promise<CommandEnd> {
      try {
        for await (const { stream, text, droppedBytes } of this.#process) {
          const lost = droppedBytes > 0 ? `[… ${droppedBytes} bytes are left out …]\n` : '';
          if (stream === 'stderr') this.emitStderr(lost + text);
          else this.emitStdout(lost + text);
        }
        const result = await this.#process.result;
        const note = whyEnded(result);
        if (note !== '') this.emitStderr(note);
        this.exitCode = exitCodeOf(result.outcome);
        return endOf(result, this);
      } finally {
        all.delete(this);
      }
    }
  }

  class LocalProcesses extends (SandboxProcessManager as abstract new () => object) {
    // Mastra wraps the methods of an instance, so they are kept here as its own properties.
    readonly _tracked = new Map<string, LocalProcess>();

    async spawn(command: string, options: CommandSettings = {}): Promise<LocalProcess> {
      const process = await machine.startText(command, {
        cwd: options.cwd,
        env: options.env,
        timeoutMs: options.timeout,
        signal: options.abortSignal,
        streams: 'separate',
        stdin: options.stdinMode === 'ignore' ? 'null' : 'pipe',
      });
      const handle = new LocalProcess(process, options);
      this._tracked.set(handle.pid, handle);
      return handle;
    }

    async list() {
      return [...this._tracked.values()].map(({ pid, exitCode }) => ({
        pid,
        running: exitCode === undefined,
        ...(exitCode !== undefined && { exitCode }),
      }));
    }
  }
  return new LocalProcesses() as Manager;
}

/** The texts of a command's end, and how much was left out of them. */
type KeptProcess = Pick<
  CommandEnd,
  | 'stdout'
  | 'stderr'
  | 'stdoutTruncated'
  | 'stderrTruncated'
  | 'stdoutDroppedBytes'
  | 'stderrDroppedBytes'
>;

/** Returns the end of a command in Mastra's form. */
export function endOf({ outcome, durationMs }: RunResult, kept: KeptProcess): CommandEnd {
  const exitCode = exitCodeOf(outcome);
  return {
    success: exitCode === 0,
    exitCode,
    stdout: kept.stdout,
    stderr: kept.stderr,
    stdoutTruncated: kept.stdoutTruncated,
    stderrTruncated: kept.stderrTruncated,
    stdoutDroppedBytes: kept.stdoutDroppedBytes,
    stderrDroppedBytes: kept.stderrDroppedBytes,
    executionTimeMs: Math.round(durationMs),
    timedOut: outcome.kind === 'timedOut',
    killed: outcome.kind === 'cancelled' || outcome.kind === 'signaled',
  };
}

/** Returns a last line for stderr; empty: the command has ended by itself. */
export function whyEnded({ outcome }: RunResult): string {
  return outcome.kind === 'timedOut' ? `\n[timed out after ${outcome.timeoutMs} ms]\n` : '';
}
