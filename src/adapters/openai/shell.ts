import {
  type BackgroundProcess,
  type CommandLine,
  type CommandOptions,
  createOwner,
  exitCodeOf,
  InputError,
  LaunchError,
  type Owner,
  run,
  type SeparateResult,
  textOf,
} from '../../index.js';
import { throwIfAborted } from '../../support/abort.js';

/** Options of a shell. Times in milliseconds. */
export interface LocalShellSettings
  extends Pick<CommandOptions, 'cwd' | 'env' | 'inheritEnv' | 'graceMs' | 'shell'> {
  /** The limit of a command whose call has none. Default: 120,000. */
  readonly timeoutMs?: number | undefined;
}

/** Commands of a model, to be run one after the other. */
export interface ShellAction {
  /** Shell texts, each run in a shell of its own, until one times out. */
  readonly commands: readonly string[];
  /** The limit of each command, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Bytes of each stream that are kept; of a longer one the middle is left out. */
  readonly maxOutputLength?: number | undefined;
}

/**
 * The output of one command. A type and not an interface, since the SDK's type may have any further
 * field.
 */
export type ShellOutput = {
  /** The output; if it is too long, the middle is left out and a line says so. */
  stdout: string;
  /**
   * The error output, shortened as `stdout`; then what the command has left running, with how to end
   * that.
   */
  stderr: string;
  /** The exit code (128 and a signal's number), or that the command has timed out. */
  outcome: { type: 'exit'; exitCode: number } | { type: 'timeout' };
};

/** The result of all commands. */
export interface ShellResult {
  /** The output of each command; the last is one that timed out, if one has. */
  output: ShellOutput[];
  /** The action's limit, in bytes of each stream; absent if the action had none. */
  maxOutputLength?: number;
}

/** Options for the command of one call. */
export interface ShellCommandOptions
  extends Pick<CommandOptions, 'cwd' | 'env' | 'timeoutMs' | 'signal'> {
  /**
   * Bytes of each stream that are kept; of a longer one the middle is left out. Default: 65,536.
   */
  readonly maxOutputLength?: number | undefined;
}

/** A shell for `shellTool` of the Agents SDK, and for {@link answerShellCall}. */
export interface Shell extends AsyncDisposable {
  /** Runs commands, each in a shell of its own. */
  run(action: ShellAction, call?: Pick<CommandOptions, 'signal'>): Promise<ShellResult>;
  /** Runs one command: shell text, or a program and its arguments. */
  runOne(command: CommandLine, options: ShellCommandOptions): Promise<ShellOutput>;
  /** Ends all that the shell's commands have started. */
  dispose(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** Bytes of a stream that are kept if the call sets no limit. */
const DEFAULT_LENGTH = 64 * 1024;

/**
 * Makes a shell for the `shell` tool of OpenAI's models, on this machine.
 *
 * @example
 * const shell = createShell({ cwd: '/srv/project' });
 * const agent = new Agent({ name: 'Engineer', tools: [shellTool({ shell })] });
 */
export function createShell(settings: LocalShellSettings = {}): Shell {
  const owner = createOwner();
  const runOne: Shell['runOne'] = (command, options) =>
    runCommand(command, settings, options, owner);
  return {
    runOne,
    async run({ commands, timeoutMs, maxOutputLength }, { signal } = {}) {
      const output: ShellOutput[] = [];
      for (const command of commands) {
        const ended = await runOne(command, { timeoutMs, maxOutputLength, signal });
        output.push(ended);
        // The time of the call has passed, too.
        if (ended.outcome.type === 'timeout') break;
      }
      return { output, ...(maxOutputLength !== undefined && { maxOutputLength }) };
    },
    dispose: () => owner.dispose(settings.graceMs),
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
  };
}

async function runCommand(
  command: CommandLine,
  settings: LocalShellSettings,
  call: ShellCommandOptions,
  owner: Owner,
): Promise<ShellOutput> {
  const length = call.maxOutputLength ?? DEFAULT_LENGTH;
  try {
    const result = await run(command, {
      ...settings,
      cwd: call.cwd ?? settings.cwd,
      env: { ...settings.env, ...call.env },
      timeoutMs: call.timeoutMs ?? settings.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal: call.signal,
      streams: 'separate',
      headBytes: Math.ceil(length / 2),
      tailBytes: Math.floor(length / 2),
      owner,
    });
    if (call.signal && result.outcome.kind === 'cancelled') throwIfAborted(call.signal);
    return outputOf(result);
  } catch (error) {
    if (error instanceof LaunchError) return notRun(error.message, exitCodeOf(error));
    if (error instanceof InputError) return notRun(error.message, 2);
    throw error;
  }
}

function outputOf({ stdout, stderr, outcome, background }: SeparateResult): ShellOutput {
  return {
    stdout: textOf(stdout),
    stderr: [textOf(stderr), ...background.map(leftRunning)].join(''),
    outcome:
      outcome.kind === 'timedOut'
        ? { type: 'timeout' }
        : { type: 'exit', exitCode: exitCodeOf(outcome) },
  };
}

/** The model has no other field for this. */
function leftRunning({ pid, processGroup, command }: BackgroundProcess): string {
  return `[still running: ${pid} ${command}; kill -9 -- -${processGroup} ends it]\n`;
}

/** Returns what a shell prints for a command that it can't run. */
function notRun(message: string, exitCode: number): ShellOutput {
  return { stdout: '', stderr: `${message}\n`, outcome: { type: 'exit', exitCode } };
}
