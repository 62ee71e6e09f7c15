// The official SDK takes these handlers by their shape: nothing of it is loaded.
import { randomUUID } from 'node:crypto';
import {
  type Capture,
  type CommandOptions,
  createOwner,
  InputError,
  type LiveProcess,
  type Outcome,
  spawn,
} from '../../index.js';

/** Options for the commands of a client's terminals. Times in milliseconds. */
export type TerminalHostOptions = Pick<CommandOptions, 'env' | 'inheritEnv' | 'graceMs' | 'shell'>;

/** Parameters of `terminal/create`, as far as they matter here. */
export interface CreateTerminal {
  /** A program, or shell text when there are no `args`. */
  readonly command: string;
  /** Arguments, passed on unchanged. Default: none. */
  readonly args?: readonly string[] | null;
  /** Variables for the command; they override those of the host's options. Default: none. */
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  /** The directory where the command starts. Default: this process's own. */
  readonly cwd?: string | null;
  /** Bytes that are kept of the end of the output. Default: 1,048,576. */
  readonly outputByteLimit?: number | null;
}

/** The end of a command; both fields are null when it is not known. */
export interface TerminalExit {
  /** The exit code; null: a signal has ended the command. */
  exitCode: number | null;
  /** The name of the signal that has ended the command, such as `SIGTERM`; null: no signal has. */
  signal: string | null;
}

/** Parameters that name a terminal. */
interface Named {
  readonly terminalId: string;
}

/**
 * Handlers for the `terminal/*` requests of an agent. Those that name a terminal throw an
 * {@link InputError} if there is none of that name, or no longer.
 */
export interface TerminalHost extends AsyncDisposable {
  /**
   * Starts a command: with arguments a program, without a shell; without arguments shell text.
   *
   * @throws {InputError | LaunchError} The command could not be started.
   */
  create(request: CreateTerminal): Promise<{ terminalId: string }>;
  /** Returns the output so far, and the end of the command if it has ended. */
  output(
    request: Named,
  ): Promise<{ output: string; truncated: boolean; exitStatus?: TerminalExit }>;
  /** Waits for the end of the command, however long that takes. */
  waitForExit(request: Named): Promise<TerminalExit>;
  /** Ends the command with all that it started; the terminal stays. */
  kill(request: Named): Promise<void>;
  /** Ends the command, and forgets the terminal. */
  release(request: Named): Promise<void>;
  /** Ends all terminals. */
  dispose(): Promise<void>;
}

const DEFAULT_LIMIT = 1024 * 1024;

/**
 * Runs the terminals of a client of the Agent Client Protocol: an editor's, for its agents.
 *
 * @example
 * const terminals = createTerminalHost();
 * app.onRequest(methods.client.terminal.create, ({ params }) => terminals.create(params));
 *
 * @throws {InputError} Never by itself: its handlers check the options when a command is started.
 */
export function createTerminalHost(options: TerminalHostOptions = {}): TerminalHost {
  const owner = createOwner();
  const terminals = new Map<string, LiveProcess>();
  const find = ({ terminalId }: Named): LiveProcess => {
    const found = terminals.get(terminalId);
    if (found !== undefined) return found;
    throw new InputError(
      `terminalId: expected a terminal that was not released, got "${terminalId}"`,
    );
  };
  const kill = async (live: LiveProcess): Promise<void> => {
    await live.kill({ graceMs: options.graceMs });
  };
  return {
    async create({ command, args, env, cwd, outputByteLimit }) {
      const variables = (env ?? []).map(({ name, value }) => [name, value] as const);
      const live = await spawn(args?.length ? [command, ...args] : command, {
        ...options,
        env: { ...options.env, ...Object.fromEntries(variables) },
        cwd: cwd ?? undefined,
        headBytes: 0,
        tailBytes: outputByteLimit ?? DEFAULT_LIMIT,
        owner,
      });
      const terminalId = randomUUID();
      terminals.set(terminalId, live);
      return { terminalId };
    },
    async output(request) {
      const live = find(request);
      const now = await live.snapshot();
      if (now !== undefined && 'output' in now) return shown(now.output);
      const result = await live.result;
      const capture = 'output' in result ? result.output : result.stdout;
      return { ...shown(capture), exitStatus: exitOf(result.outcome) };
    },
    waitForExit: async (request) => exitOf((await find(request).result).outcome),
    kill: async (request) => kill(find(request)),
    async release(request) {
      const live = find(request);
      terminals.delete(request.terminalId);
      await kill(live);
    },
    dispose: () => owner.dispose(options.graceMs),
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
  };
}

/** Returns what is kept, which is the end alone. */
function shown(capture: Capture): { output: string; truncated: boolean } {
  if (capture.kind === 'complete') return { output: capture.text, truncated: false };
  return { output: capture.tail, truncated: true };
}

function exitOf(outcome: Outcome): TerminalExit {
  const ending = 'ending' in outcome ? outcome.ending : outcome;
  return {
    exitCode: ending.kind === 'exited' ? ending.exitCode : null,
    signal: ending.kind === 'signaled' ? ending.signal : null,
  };
}
