// The types of Mastra's `WorkspaceSandbox`, by their shape: nothing of it is loaded.

/** How a command is run. */
export interface CommandSettings {
  /** Milliseconds. Default: the machine's. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** A directory in the root. Default: the root. */
  readonly cwd?: string | undefined;
  readonly onStdout?: ((text: string) => void) | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** Bytes that are kept of the end of each stream. Default: `headBytes` and `tailBytes`. */
  readonly maxRetainedBytes?: number | undefined;
  /** Of a process in the background. Default: 'pipe', `sendStdin()` feeds it. */
  readonly stdinMode?: 'pipe' | 'ignore' | undefined;
}

/** How a command has ended. */
export interface CommandEnd {
  success: boolean;
  /** As `exitCodeOf()` has it. */
  exitCode: number;
  stdout: string;
  stderr: string;
  executionTimeMs: number;
  timedOut: boolean;
  killed: boolean;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
  stdoutDroppedBytes: number;
  stderrDroppedBytes: number;
  command?: string;
  args?: string[];
}

/** What a handle of Mastra's does by itself: it keeps output and tells listeners of it. */
export interface HandleBase {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly stdoutDroppedBytes: number;
  readonly stderrDroppedBytes: number;
  emitStdout(text: string): void;
  emitStderr(text: string): void;
}

/** `ProcessHandle` and `SandboxProcessManager` of `@mastra/core/workspace`: ours extend them. */
export interface MastraClasses<Manager extends object> {
  readonly ProcessHandle: abstract new (options?: CommandSettings) => HandleBase;
  readonly SandboxProcessManager: abstract new () => Manager;
}

/** What Mastra asks of a sandbox's state. */
export type SandboxPhase = 'pending' | 'running' | 'stopped' | 'destroyed';

/** The local machine for `sandbox` of a Mastra workspace. */
export interface WorkspaceSandbox<Manager extends object> extends AsyncDisposable {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  status: SandboxPhase;
  /** Processes in the background. */
  readonly processes: Manager;
  start(): Promise<void>;
  /** Ends the commands in the background; files stay. */
  stop(): Promise<void>;
  /** Ends all commands and what they have left running. */
  destroy(): Promise<void>;
  isReady(): boolean;
  getInfo(): {
    id: string;
    name: string;
    provider: string;
    status: SandboxPhase;
    createdAt: Date;
  };
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
  getEnv(): Record<string, string | undefined>;
  /** Starts it where that has not been done. */
  ensureRunning(): Promise<void>;
  /** @throws {PathError} A path leads out of the root. */
  writeFiles(
    files: { path: string; content: string | Uint8Array; mode?: number }[],
    options?: { readonly abortSignal?: AbortSignal | undefined },
  ): Promise<void>;
}
