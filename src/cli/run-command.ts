import { Command } from 'commander';
import {
  type CommandOptions,
  createOwner,
  InputError,
  LaunchError,
  type Owner,
  type RunResult,
  run,
  spawn,
  type TerminalUi,
} from '../index.js';
import { signalExitCode } from '../support/signals.js';
import { collectVariable, parseSeconds, parseSize } from './arguments.js';
import { BoundedOutput, type WriteBytes } from './bounded-output.js';
import { runOnTerminal, userTerminal } from './console.js';
import { launchCode, outcomeCode, USAGE_ERROR } from './exit-code.js';
import { note, noteResult } from './notes.js';
import {
  exitSoon,
  expectOutputErrors,
  untilClosed,
  untilImpatient,
  writeStandardOutput,
} from './standard-output.js';
import { Termination } from './termination.js';

interface RunFlags {
  /** Milliseconds. */
  readonly timeout?: number | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Bytes. */
  readonly maxOutput?: number | undefined;
  readonly spill?: string | undefined;
  readonly json?: true | undefined;
  readonly pty?: true | undefined;
}

/** `forkline run`: one command, its output and its exit code. */
export function runCommand(): Command {
  return new Command('run')
    .description('Run a shell command; print its output and exit with its exit code')
    .argument('<command>', 'text of the command, one argument')
    .option('--timeout <seconds>', 'end the command after this time; exit code 124', parseSeconds)
    .option('--cwd <directory>', 'run it there')
    .option('--env <name=value>', 'set a variable for it; may be repeated', collectVariable)
    .option(
      '--max-output <bytes>',
      'print the first and last half of this only (64K, 1M)',
      parseSize,
    )
    .option('--spill <file>', 'write all of its output to a file as well')
    .option('--pty', 'run it on a terminal that takes all of yours; Esc ends it')
    .option('--json', 'print the result, output included, as one line of JSON')
    .action(async (command: string, flags: RunFlags) => {
      process.exitCode = await runToExitCode(command, flags);
    });
}

async function runToExitCode(command: string, flags: RunFlags): Promise<number> {
  const termination = new Termination();
  // Its own owner, so that what the command leaves behind ends with this process and not later.
  const owner = createOwner();
  try {
    return await runIn(owner, termination, command, flags);
  } catch (error) {
    // Ended before it began: spawn() rejects with the reason of the signal.
    if (termination.endedBy !== undefined) return signalExitCode(termination.endedBy);
    return explain(error);
  } finally {
    await owner.dispose();
    termination.release();
    if (termination.endedBy !== undefined) exitSoon();
  }
}

async function runIn(
  owner: Owner,
  termination: Termination,
  command: string,
  flags: RunFlags,
): Promise<number> {
  const options: CommandOptions = {
    owner,
    signal: termination.signal,
    env: flags.env,
    cwd: flags.cwd,
    timeoutMs: flags.timeout,
    spill: flags.spill,
  };
  expectOutputErrors();
  const ui = flags.pty && userTerminal();
  const result = ui
    ? await printAfterwards(command, options, flags, termination, ui)
    : flags.json
      ? await printJson(command, options, flags.maxOutput, termination)
      : await printLive(command, options, flags.maxOutput, termination);
  noteResult(result);
  return outcomeCode(result.outcome, termination.endedBy);
}

/** The user has seen it on another screen; this one keeps what there is to read of it. */
async function printAfterwards(
  command: string,
  options: CommandOptions,
  { maxOutput, json }: RunFlags,
  termination: Termination,
  ui: TerminalUi,
): Promise<RunResult> {
  const limits = maxOutput === undefined ? {} : halves(maxOutput);
  const { result, text } = await runOnTerminal(command, { ...options, ...limits }, ui);
  const printed = json ? `${JSON.stringify(result)}\n` : text;
  await writeUntilClosed(termination)(Buffer.from(printed));
  return result;
}

async function printJson(
  command: string,
  options: CommandOptions,
  maxOutput: number | undefined,
  termination: Termination,
): Promise<RunResult> {
  const limits = maxOutput === undefined ? {} : halves(maxOutput);
  const result = await run(command, { ...options, ...limits });
  await writeUntilClosed(termination)(Buffer.from(`${JSON.stringify(result)}\n`));
  return result;
}

function halves(bytes: number): Pick<CommandOptions, 'headBytes' | 'tailBytes'> {
  const headBytes = Math.floor(bytes / 2);
  return { headBytes, tailBytes: bytes - headBytes };
}

async function printLive(
  command: string,
  options: CommandOptions,
  maxOutput: number | undefined,
  termination: Termination,
): Promise<RunResult> {
  const write = writeUntilClosed(termination);
  const bounded = maxOutput === undefined ? undefined : new BoundedOutput(write, maxOutput);
  const live = await spawn(command, {
    ...options,
    // Nothing is kept: what is printed is gone.
    headBytes: 0,
    tailBytes: 0,
    encoding: 'bytes',
    overflow: 'pause',
  });
  for await (const { bytes } of live) {
    await (bounded === undefined ? write(bytes) : bounded.push(bytes));
  }
  const dropped = (await bounded?.finish()) ?? 0;
  if (dropped > 0) note(`${dropped} bytes in the middle of the output are not shown`);
  return live.result;
}

/** When nobody reads any more, the command ends as if it had written to that pipe itself. */
function writeUntilClosed(termination: Termination): WriteBytes {
  return untilClosed(untilImpatient(writeStandardOutput, termination.signal), (error) => {
    if (!error.quiet) note(error.message);
    termination.end('SIGPIPE');
  });
}

/** Says what went wrong before the command began. */
function explain(error: unknown): number {
  if (error instanceof InputError) {
    note(error.message);
    return USAGE_ERROR;
  }
  if (error instanceof LaunchError) {
    note(error.message);
    return launchCode(error);
  }
  throw error;
}
