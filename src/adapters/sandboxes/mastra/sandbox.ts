// The types of Mastra's `WorkspaceSandbox`, by their shape: nothing of it is loaded.

/** Options of a command. */
export interface CommandSettings {
  /** The limit in milliseconds. Default: the machine's. */
  readonly timeout?: number | undefined;
  /** Variables that override all others; `undefined` removes one. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The directory where the command starts, in the root. Default: the root. */
  readonly cwd?: string | undefined;
  /** Called with output while the command runs. Default: none. */
  readonly onStdout?: ((text: string) => void) | undefined;
  /** Called with error output while the command runs. Default: none. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /** A signal that ends the command and everything it has started. Default: none. */
  readonly abortSignal?: AbortSignal | undefined;
  /** Bytes that are kept of the end of each stream. Default: `headBytes` and `tailBytes`. */
  readonly maxRetainedBytes?: number | undefined;
  /** The stdin of a background process. Default: 'pipe', which `sendStdin()` writes to. */
  readonly stdinMode?: 'pipe' | 'ignore' | undefined;
}

/** The end of a command. */
export interface CommandEnd {
  /** Whether the exit code is 0. */
  success: boolean;
  /** The exit code, as `exitCodeOf()` returns it. */
  exitCode: number;
  /** The output that was kept. */
  stdout: string;
  /** The error output that was kept; a last line says if the command has timed out. */
  stderr: string;
  /** The time from the launch to the end, in milliseconds. */
  executionTimeMs: number;
  /** Whether the command has timed out, and was ended. */
  timedOut: boolean;
  /**
   * Whether a signal has ended the command, or this process has: by the abort signal, `kill()` or
   * `stop()`.
   */
  killed: boolean;
  /** Whether some output was not kept. */
  stdoutTruncated: boolean;
  /** Whether some error output was not kept. */
  stderrTruncated: boolean;
  /** Bytes of output that were not kept. */
  stdoutDroppedBytes: number;
  /** Bytes of error output that were not kept. */
  stderrDroppedBytes: number;
  /** The command of `executeCommand()` with its arguments, as shell text. */
  command?: string;
  /** Not used: `command` has the arguments. */
  args?: string[];
}

/**
 * The part of a Mastra handle that Mastra implements: it keeps output and tells listeners of it.
 */
export interface HandleBase {
  /** The output that is kept so far. */
  readonly stdout: string;
  /** The error output that is kept so far. */
  readonly stderr: string;
  /** Whether some output is not kept. */
  readonly stdoutTruncated: boolean;
  /** Whether some error output is not kept. */
  readonly stderrTruncated: boolean;
  /** Bytes of output that are not kept. */
  readonly stdoutDroppedBytes: number;
  /** Bytes of error output that are not kept. */
  readonly stderrDroppedBytes: number;
  /** Keeps output of the process, and tells listeners. */
  emitStdout(text: string): void;
  /** Keeps error output of the process, and tells listeners. */
  emitStderr(text: string): void;
}

type HandleClass = abstract new (options?: CommandSettings) => HandleBase;
type ManagerClass<Manager> = abstract new () => Manager;

/**
 * `ProcessHandle` and `SandboxProcessManager` of `@mastra/core/workspace`, which forkline's classes
 * extend.
 */
export interface MastraClasses<Manager extends object> {
  /** The base class of the handles of `processes`. */
  readonly ProcessHandle: HandleClass;
  /** The base class of `processes`. */
  readonly SandboxProcessManager: ManagerClass<Manager>;
}

/** The states of a sandbox in Mastra. */
export type SandboxPhase = 'pending' | 'running' | 'stopped' | 'destroyed';

/** The local machine for `sandbox` of a Mastra workspace. */
export interface WorkspaceSandbox<Manager extends object> extends AsyncDisposable {
  /** An id of its own for each sandbox. */
  readonly id: string;
  /** Always `forkline`. */
  readonly name: string;
  /** Always `local`: commands run on this machine. */
  readonly provider: string;
  /**
   * The state that was last asked for. A command makes it `running`, unless the sandbox was destroyed.
   */
  status: SandboxPhase;
  /** Processes in the background. */
  readonly processes: Manager;
  /**
   * Makes the sandbox `running`; commands do that by themselves.
   *
   * @throws {Error} The sandbox was destroyed.
   */
  start(): Promise<void>;
  /** Ends the commands in the background; files stay. */
  stop(): Promise<void>;
  /** Ends all commands and what they have left running. */
  destroy(): Promise<void>;
  /** Whether `status` is `running`. */
  isReady(): boolean;
  /** Returns the id, the name, the status and the time when the sandbox was made. */
  getInfo(): { id: string; name: string; provider: string; status: SandboxPhase; createdAt: Date };
  /** Returns a sentence for the model: the commands' surroundings, and where they start. */
  getInstructions(): string;
  /** Does nothing: the files of a directory stay by themselves. */
  snapshot(): Promise<void>;
  /**
   * Runs a command to its end.
   *
   * @param args With arguments, the command is a program and runs without a shell.
   * @throws {InputError} An option is not valid.
   * @throws {LaunchError} The command could not be started.
   */
  executeCommand(command: string, args?: string[], options?: CommandSettings): Promise<CommandEnd>;
  /** Sets variables for later commands; they override those of the machine. */
  setEnv(
    update: (env: Record<string, string | undefined>) => Record<string, string | undefined>,
  ): void;
  /** Returns a copy of the variables that `setEnv()` has set, without the machine's own. */
  getEnv(): Record<string, string | undefined>;
  /** Starts the sandbox if it was not started. */
  ensureRunning(): Promise<void>;
  /**
   * Writes files.
   *
   * @throws {PathError} A path leads out of the root.
   */
  writeFiles(
    files: { path: string; content: string | Uint8Array; mode?: number }[],
    options?: { readonly abortSignal?: AbortSignal | undefined },
  ): Promise<void>;
}
