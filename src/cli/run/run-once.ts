import {
  type BytesChunk,
  type CommandOptions,
  createOwner,
  type LiveProcess,
  type RunResult,
  type SpawnOptions,
  spawn,
  type TerminalUi,
} from '../../index.js';
import { outcomeCode, writtenCode } from '../exit-code.js';
import { note, noteResult } from '../notes.js';
import { type SandboxFlags, sandboxOf } from '../sandbox-flags.js';
import { exitSoon } from '../standard-output.js';
import { askingUser } from './ask-user.js';
import { BoundedOutput } from './bounded-output.js';
import { type CommandOutput, openOutput } from './command-output.js';
import { CommandSignals } from './command-signals.js';
import { commandVariables } from './command-variables.js';
import { runOnTerminal, userTerminal } from './console.js';
import { describe, explain } from './failure.js';
import { feed, hasInput } from './standard-input.js';
import { WaitingLine } from './waiting-line.js';

/** The flags of `forkline run`. */
export interface RunFlags extends SandboxFlags {
  /** The limit in milliseconds. */
  readonly timeout?: number | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly umask?: number | undefined;
  /** The limit in bytes. */
  readonly maxOutput?: number | undefined;
  readonly spill?: string | undefined;
  /** Whether the command gets standard input. */
  readonly input: boolean;
  readonly json?: true | undefined;
  readonly pty?: true | undefined;
  /** Whether the command is only started. */
  readonly detach?: true | undefined;
  /** Whether a detached command has an input that can be written to. */
  readonly keepInput?: true | undefined;
}

/** The parts of one run. */
interface Run {
  readonly command: string;
  readonly flags: RunFlags;
  readonly options: CommandOptions;
  readonly signals: CommandSignals;
  readonly line: WaitingLine;
  readonly output: CommandOutput;
}

/** Runs a command and passes on its output. Returns the exit code. */
export async function runOnce(command: string, flags: RunFlags): Promise<number> {
  const signals = new CommandSignals();
  // An owner of its own: processes that the command leaves behind end with this process, and not later.
  const owner = createOwner();
  const line = new WaitingLine();
  const output = openOutput(signals, line);
  const { env: given, cwd, umask, timeout: timeoutMs, spill } = flags;
  const env = commandVariables(given);
  try {
    const sandbox = sandboxOf(flags);
    // On another screen, what is typed is the command's.
    const onExec = flags.pty ? undefined : askingUser(sandbox, { signals, line });
    const common = { owner, signal: signals.signal, env, cwd, umask, timeoutMs, spill };
    const options = { ...common, sandbox, undo: flags.undo, onExec };
    return await printed({ command, flags, options, signals, line, output });
  } catch (error) {
    const code = explain(error, signals.endedBy);
    if (flags.json) await output.write(jsonLine({ command, error: describe(error) }));
    return code;
  } finally {
    await owner.dispose();
    line.stop();
    signals.release();
    if (signals.endedBy !== undefined) exitSoon();
  }
}

async function printed(run: Run): Promise<number> {
  const { flags, signals, line, output } = run;
  const ui = flags.pty && userTerminal();
  const result = ui ? await printAfterwards(run, ui) : await print(run);
  line.stop();
  noteResult(result, signals.endedBy);
  return writtenCode(outcomeCode(result.outcome, signals.endedBy), output.failure());
}

/** Prints the output of a command that ran on another screen. */
async function printAfterwards(run: Run, ui: TerminalUi): Promise<RunResult> {
  const { command, flags, options, line, output } = run;
  line.stop();
  const limits = flags.maxOutput === undefined ? {} : halves(flags.maxOutput);
  const { result, text } = await runOnTerminal(command, { ...options, ...limits }, ui);
  await output.write(flags.json ? jsonLine(result) : Buffer.from(text));
  return result;
}

async function print(run: Run): Promise<RunResult> {
  const { command, flags, options, signals } = run;
  const stdin = flags.input && hasInput() ? 'pipe' : 'null';
  const live = await spawn(command, {
    ...options,
    ...captured(flags, options),
    encoding: 'bytes',
    stdin,
  });
  signals.attach(live);
  const letGo = stdin === 'pipe' ? feed(live) : undefined;
  try {
    return flags.json ? await printJson(live, run) : await printLive(live, run);
  } finally {
    letGo?.();
  }
}

/** Bytes of output that are kept to find denials in. */
const LOOKED_AT_BYTES = 512 * 1024;

/**
 * Returns what is kept: output that is printed as it comes need not be kept, and output that is kept
 * need not be delivered.
 */
function captured({ json, maxOutput }: RunFlags, { sandbox }: CommandOptions): SpawnOptions {
  if (!json) return { ...halves(sandbox === undefined ? 0 : LOOKED_AT_BYTES), overflow: 'pause' };
  return maxOutput === undefined ? {} : halves(maxOutput);
}

function halves(bytes: number): Pick<CommandOptions, 'headBytes' | 'tailBytes'> {
  const headBytes = Math.floor(bytes / 2);
  return { headBytes, tailBytes: bytes - headBytes };
}

async function printJson({ result }: LiveProcess<unknown>, { output }: Run): Promise<RunResult> {
  const ended = await result;
  await output.write(jsonLine(ended));
  return ended;
}

async function printLive(
  live: LiveProcess<BytesChunk>,
  { flags: { maxOutput }, output }: Run,
): Promise<RunResult> {
  const { write } = output;
  const bounded = maxOutput === undefined ? undefined : new BoundedOutput(write, maxOutput);
  for await (const { bytes } of live) {
    output.printed();
    await (bounded === undefined ? write(bytes) : bounded.push(bytes));
  }
  const dropped = (await bounded?.finish()) ?? 0;
  if (dropped > 0) note(`${dropped} bytes in the middle of the output are not shown`);
  return live.result;
}

function jsonLine(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
