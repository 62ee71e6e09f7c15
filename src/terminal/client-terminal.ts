/** What a client is asked to run: the parameters of `terminal/create`. */
export interface ClientTerminalRequest {
  /** The session that the terminal belongs to. */
  sessionId: string;
  /** The shell. */
  command: string;
  /** The shell's arguments. */
  args: string[];
  /** Variables, over the client's own. */
  env: { name: string; value: string }[];
  /** Absolute. */
  cwd: string;
  /** Bytes of output that the client keeps; it drops the beginning. */
  outputByteLimit: number;
}

/** How a command in a client's terminal ended; both are null when nobody knows. */
export interface ClientExitStatus {
  /** Its exit code, 0 to 255; null: a signal ended it. */
  exitCode?: number | null | undefined;
  /** The signal that ended it, by its name; null: none did. */
  signal?: string | null | undefined;
}

/** What a client's terminal shows. */
export interface ClientTerminalOutput {
  /** What it has kept. */
  output: string;
  /** The client has dropped the beginning. */
  truncated: boolean;
  /** Present when the command has ended. */
  exitStatus?: ClientExitStatus | null | undefined;
}

/** A terminal of the client: `TerminalHandle` of the Agent Client Protocol's SDK is one. */
export interface ClientTerminalHandle {
  /** The client's id for it, which its user interface shows it by. */
  readonly id: string;
  /** What it shows now. */
  currentOutput(): Promise<ClientTerminalOutput>;
  /** Resolves when the command has ended. */
  waitForExit(): Promise<ClientExitStatus>;
  /** Ends the command; the terminal stays. */
  kill(): Promise<unknown>;
  /** Ends the command, and forgets the terminal. */
  release(): Promise<unknown>;
}

/**
 * The agent's side of a connection of the Agent Client Protocol. In the official SDK,
 * `@agentclientprotocol/sdk`, that is `AgentContext`: `client` of a handler's argument, or of what
 * `connect()` returns.
 */
export interface ClientTerminalConnection {
  /** Opens a terminal of the client's, and runs a command in it. */
  createTerminal(
    request: ClientTerminalRequest,
    options?: { cancellationSignal?: AbortSignal },
  ): Promise<ClientTerminalHandle>;
}

/** What is run in a client's terminal. */
export interface ClientCommand {
  readonly text: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Time that it may take, from the request for the terminal on. */
  readonly timeoutMs: number;
  readonly outputByteLimit: number;
}

/** Why a command in a client's terminal is over. */
export type ClientOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signaled'; readonly signal: string }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'cancelled' }
  /** The client tells no status; `reason` is what it said when it was asked. */
  | { readonly kind: 'unknown'; readonly reason?: string };

/** A command in a client's terminal that is over. */
export interface ClientResult {
  /** Absent when there was no terminal in time. */
  readonly terminalId?: string;
  readonly outcome: ClientOutcome;
  readonly output: string;
  /** The client has dropped the beginning. */
  readonly truncated: boolean;
  /** The client did not answer when it was asked at the end: there may be more. */
  readonly stale: boolean;
  /** The client took neither order to end it. */
  readonly mayStillRun: boolean;
  readonly durationMs: number;
}

/** Hears of a command in a client's terminal while it runs. Must not throw. */
export interface ClientWatcher {
  created(terminalId: string): void;
  /** What the terminal shows now. */
  shows(output: string, truncated: boolean): void;
}

/** The client gave no terminal. */
export class ClientTerminalError extends Error {
  override readonly name = 'ClientTerminalError';
}
