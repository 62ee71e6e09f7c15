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

/** How a shell runs its commands. Times in milliseconds. */
export interface LocalShellSettings
  extends Pick<CommandOptions, 'cwd' | 'env' | 'inheritEnv' | 'graceMs' | 'shell'> {
  /** Time that a command may take when its call names none. Default: 120,000. */
  readonly timeoutMs?: number | undefined;
}

/** Commands that a model wants run, one after the other. */
export interface ShellAction {
  /** Shell texts, each run in a shell of its own, until one times out. */
  readonly commands: readonly string[];
  /** Time that each may take, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Bytes of each stream that are kept; the middle of what is longer is left out. */
  readonly maxOutputLength?: number | undefined;
}

/** What became of one command. Not an interface: the SDK's may have any further field. */
export type ShellOutput = {
  /** Its middle is left out where it is too long; a line says so. */
  stdout: string;
  /** As `stdout`, and after it what the command has left running, with how to end that. */
  stderr: string;
  /** Its exit code (128 and a signal's number), or that its time was up. */
  outcome: { type: 'exit'; exitCode: number } | { type: 'timeout' };
};

/** What became of all. */
export interface ShellResult {
  /** One for each command; the last is one that timed out, if one has. */
  output: ShellOutput[];
  /** That of the action, in bytes of each stream; absent when it named none. */
  maxOutputLength?: number;
}

/** How one call's command is run. */
export interface ShellCommandOptions
  extends Pick<CommandOptions, 'cwd' | 'env' | 'timeoutMs' | 'signal'> {
  /**
   * Bytes of each stream that are kept; the middle of what is longer is left out. Default: 65,536.
   */
  readonly maxOutputLength?: number | undefined;
}

/** A shell for `shellTool` of the Agents SDK, and for {@link answerShellCall}. */
export interface Shell extends AsyncDisposable {
  /** Runs commands, each in a shell of its own. */
  run(action: ShellAction, call?: Pick<CommandOptions, 'signal'>): Promise<ShellResult>;
  /** Runs one command: shell text, or a program and its arguments. */
  runOne(command: CommandLine, options: ShellCommandOptions): Promise<ShellOutput>;
  /** Ends whatever its commands started. */
  dispose(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** What is kept of a stream, where the call does not say. */
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
        // The time of the call is up, too.
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

/** The model has no other field for it. */
function leftRunning({ pid, processGroup, command }: BackgroundProcess): string {
  return `[still running: ${pid} ${command}; kill -9 -- -${processGroup} ends it]\n`;
}

/** As a shell tells what it can't run. */
function notRun(message: string, exitCode: number): ShellOutput {
  return { stdout: '', stderr: `${message}\n`, outcome: { type: 'exit', exitCode } };
}
