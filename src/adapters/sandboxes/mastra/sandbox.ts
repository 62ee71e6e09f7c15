// The types of Mastra's `WorkspaceSandbox`, by their shape: nothing of it is loaded.

/** How a command is run. */
export interface CommandSettings {
  /** Milliseconds. Default: the machine's. */
  readonly timeout?: number | undefined;
  /** Over all other variables; one that is undefined is removed. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** A directory in the root. Default: the root. */
  readonly cwd?: string | undefined;
  /** Told of output while the command runs. Default: nobody is. */
  readonly onStdout?: ((text: string) => void) | undefined;
  /** As `onStdout`. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /** Ends the command and everything it started, when it is aborted. Default: none. */
  readonly abortSignal?: AbortSignal | undefined;
  /** Bytes that are kept of the end of each stream. Default: `headBytes` and `tailBytes`. */
  readonly maxRetainedBytes?: number | undefined;
  /** Of a process in the background. Default: 'pipe', `sendStdin()` feeds it. */
  readonly stdinMode?: 'pipe' | 'ignore' | undefined;
}

/** How a command has ended. */
export interface CommandEnd {
  /** Its exit code is 0. */
  success: boolean;
  /** As `exitCodeOf()` has it. */
  exitCode: number;
  /** What was kept of it. */
  stdout: string;
  /** What was kept of it; a line at its end says when its time was up. */
  stderr: string;
  /** From the launch to the end. */
  executionTimeMs: number;
  /** Its time was up, and it was ended. */
  timedOut: boolean;
  /** A signal has ended it, or this process: by the abort signal, `kill()` or `stop()`. */
  killed: boolean;
  /** Some of it was not kept. */
  stdoutTruncated: boolean;
  /** Some of it was not kept. */
  stderrTruncated: boolean;
  /** How much was not kept. */
  stdoutDroppedBytes: number;
  /** How much was not kept. */
  stderrDroppedBytes: number;
  /** What `executeCommand()` has run, with its arguments, as shell text. */
  command?: string;
  /** Not used: `command` has them. */
  args?: string[];
}

/** What a handle of Mastra's does by itself: it keeps output and tells listeners of it. */
export interface HandleBase {
  /** What is kept of it so far. */
  readonly stdout: string;
  /** What is kept of it so far. */
  readonly stderr: string;
  /** Some of it is not kept. */
  readonly stdoutTruncated: boolean;
  /** Some of it is not kept. */
  readonly stderrTruncated: boolean;
  /** How much is not kept. */
  readonly stdoutDroppedBytes: number;
  /** How much is not kept. */
  readonly stderrDroppedBytes: number;
  /** Keeps what the process has written, and tells listeners. */
  emitStdout(text: string): void;
  /** The same for stderr. */
  emitStderr(text: string): void;
}

type HandleClass = abstract new (options?: CommandSettings) => HandleBase;
type ManagerClass<Manager> = abstract new () => Manager;

/** `ProcessHandle` and `SandboxProcessManager` of `@mastra/core/workspace`: ours extend them. */
export interface MastraClasses<Manager extends object> {
  /** What `processes` makes its handles from. */
  readonly ProcessHandle: HandleClass;
  /** What `processes` is one of. */
  readonly SandboxProcessManager: ManagerClass<Manager>;
}

/** What Mastra asks of a sandbox's state. */
export type SandboxPhase = 'pending' | 'running' | 'stopped' | 'destroyed';

/** The local machine for `sandbox` of a Mastra workspace. */
export interface WorkspaceSandbox<Manager extends object> extends AsyncDisposable {
  /** Another one for each sandbox. */
  readonly id: string;
  /** Always `forkline`. */
  readonly name: string;
  /** Always `local`: commands run on this machine. */
  readonly provider: string;
  /** What was last asked of it. A command makes it `running`, unless it was destroyed. */
  status: SandboxPhase;
  /** Processes in the background. */
  readonly processes: Manager;
  /**
   * Makes it `running`; commands do that by themselves.
   *
   * @throws {Error} It was destroyed.
   */
  start(): Promise<void>;
  /** Ends the commands in the background; files stay. */
  stop(): Promise<void>;
  /** Ends all commands and what they have left running. */
  destroy(): Promise<void>;
  /** Whether `status` is `running`. */
  isReady(): boolean;
  /** What it is called, its status, and when it was made. */
  getInfo(): { id: string; name: string; provider: string; status: SandboxPhase; createdAt: Date };
  /** A sentence for the model: what commands run in, and where they start. */
  getInstructions(): string;
  /** Does nothing: the files of a directory stay by themselves. */
  snapshot(): Promise<void>;
  /**
   * @param args Where some are given, no shell is there: the command is a program.
   * @throws {InputError} An option is not valid.
   * @throws {LaunchError} It could not be started.
   */
  executeCommand(command: string, args?: string[], options?: CommandSettings): Promise<CommandEnd>;
  /** Variables of the commands to come, over those of the machine. */
  setEnv(
    update: (env: Record<string, string | undefined>) => Record<string, string | undefined>,
  ): void;
  /** A copy of what `setEnv()` has set; the machine's own variables are not in it. */
  getEnv(): Record<string, string | undefined>;
  /** Starts it where that has not been done. */
  ensureRunning(): Promise<void>;
  /** @throws {PathError} A path leads out of the root. */
  writeFiles(
    files: { path: string; content: string | Uint8Array; mode?: number }[],
    options?: { readonly abortSignal?: AbortSignal | undefined },
  ): Promise<void>;
}
