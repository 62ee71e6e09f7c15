/** The parameters of `terminal/create`: a command for the client to run. */
export interface ClientTerminalRequest {
  /** The session that the terminal belongs to. */
  sessionId: string;
  /** The shell. */
  command: string;
  /** The shell's arguments. */
  args: string[];
  /** Variables, over the client's own. */
  env: { name: string; value: string }[];
  /** Absolute path of the working directory. */
  cwd: string;
  /** Bytes of output that the client keeps; it drops the beginning. */
  outputByteLimit: number;
}

/** How a command in a client's terminal ended; both fields are null when that is not known. */
export interface ClientExitStatus {
  /** The exit code, 0 to 255; null when a signal ended the command. */
  exitCode?: number | null | undefined;
  /** Name of the signal that ended the command; null when none did. */
  signal?: string | null | undefined;
}

/** The output of a command in a client's terminal. */
export interface ClientTerminalOutput {
  /** The output that the client has kept. */
  output: string;
  /** Whether the client has dropped the beginning. */
  truncated: boolean;
  /** Present when the command has ended. */
  exitStatus?: ClientExitStatus | null | undefined;
}

/** A terminal of the client: `TerminalHandle` of the Agent Client Protocol's SDK is one. */
export interface ClientTerminalHandle {
  /** The client's id of the terminal, by which its user interface shows it. */
  readonly id: string;
  /** Returns the current output. */
  currentOutput(): Promise<ClientTerminalOutput>;
  /** Resolves when the command has ended. */
  waitForExit(): Promise<ClientExitStatus>;
  /** Ends the command; the terminal stays. */
  kill(): Promise<unknown>;
  /** Ends the command, and frees the terminal. */
  release(): Promise<unknown>;
}

/**
 * The agent's side of a connection of the Agent Client Protocol. In the official SDK,
 * `@agentclientprotocol/sdk`, that is `AgentContext`: `client` of a handler's argument, or of the result
 * of `connect()`.
 */
export interface ClientTerminalConnection {
  /** Creates a terminal in the client, and runs a command in it. */
  createTerminal(
    request: ClientTerminalRequest,
    options?: { cancellationSignal?: AbortSignal },
  ): Promise<ClientTerminalHandle>;
}

/** A command to run in a client's terminal. */
export interface ClientCommand {
  readonly text: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Time limit in milliseconds, from the request for the terminal on. */
  readonly timeoutMs: number;
  readonly outputByteLimit: number;
}

/** How a command in a client's terminal ended. */
export type ClientOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signaled'; readonly signal: string }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'cancelled' }
  /** The client reports no status; `reason` is its answer to the question. */
  | { readonly kind: 'unknown'; readonly reason?: string };

/** The result of a command in a client's terminal. */
export interface ClientResult {
  /** Absent when no terminal was created in time. */
  readonly terminalId?: string;
  readonly outcome: ClientOutcome;
  readonly output: string;
  /** Whether the client has dropped the beginning. */
  readonly truncated: boolean;
  /** Whether the client failed to answer the last poll: there may be more output. */
  readonly stale: boolean;
  /** Whether the client accepted neither call to end the command. */
  readonly mayStillRun: boolean;
  readonly durationMs: number;
}

/** Callbacks about a command in a client's terminal while it runs. Must not throw. */
export interface ClientWatcher {
  created(terminalId: string): void;
  /** Called with the current output of the terminal. */
  shows(output: string, truncated: boolean): void;
}

/** The client did not create a terminal. */
export class ClientTerminalError extends Error {
  override readonly name = 'ClientTerminalError';
}
