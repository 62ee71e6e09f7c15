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

/** How the terminals of a client run their commands. Times in milliseconds. */
export type TerminalHostOptions = Pick<CommandOptions, 'env' | 'inheritEnv' | 'graceMs' | 'shell'>;

/** Parameters of `terminal/create`, as far as they matter here. */
export interface CreateTerminal {
  /** A program, or shell text when there are no `args`. */
  readonly command: string;
  /** Arguments of the program, as they are. Default: none. */
  readonly args?: readonly string[] | null;
  /** Variables for the command, over those of the host's options. Default: none. */
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  /** The directory that it starts in. Default: this process's own. */
  readonly cwd?: string | null;
  /** Bytes of the end that are kept. Default: 1,048,576. */
  readonly outputByteLimit?: number | null;
}

/** How a command ended; both are null when nobody knows. */
export interface TerminalExit {
  /** What it exited with; null: a signal has ended it. */
  exitCode: number | null;
  /** The name of the signal that has ended it, such as `SIGTERM`; null: none has. */
  signal: string | null;
}

/** Names a terminal. */
interface Named {
  readonly terminalId: string;
}

/**
 * Handlers for the `terminal/*` requests of an agent. Those that name a terminal throw an
 * {@link InputError} for one that there is not, or not any more.
 */
export interface TerminalHost extends AsyncDisposable {
  /**
   * Starts a command: with arguments a program, without a shell; without any the text for one.
   *
   * @throws {InputError | LaunchError} It could not be started.
   */
  create(request: CreateTerminal): Promise<{ terminalId: string }>;
  /** Its output so far, and how it ended if it has. */
  output(
    request: Named,
  ): Promise<{ output: string; truncated: boolean; exitStatus?: TerminalExit }>;
  /** How the command has ended; settles once it has, however long that takes. */
  waitForExit(request: Named): Promise<TerminalExit>;
  /** Ends the command with all that it started; the terminal stays. */
  kill(request: Named): Promise<void>;
  /** Ends the command, and forgets the terminal. */
  release(request: Named): Promise<void>;
  /** Ends all of them. */
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
 * @throws {InputError} Only by its handlers: the options, too, are checked when a command is started.
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

/** What was kept: the end alone. */
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
