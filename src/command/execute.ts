import { resolve } from 'node:path';
import { inCallersContext } from '../engine/caller.js';
import type { EngineCommand } from '../engine/message.js';
import type { MergedResult, OutputChunk, RunResult, SeparateResult } from '../engine/outcome.js';
import type { CommandHandle } from '../engine/process.js';
import { neverStarted, type Requested } from '../engine/result.js';
import type { ExecuteOptions } from '../options/command-options.js';
import { encodingOf } from '../options/encoding.js';
import { type TerminalSize, terminalSize } from '../options/terminal.js';
import { spillPathOf } from '../options/values.js';
import { orAgain } from '../sandbox/denials/again.js';
import { sandboxEnvironment } from '../sandbox/environment.js';
import { sandboxOfCommand } from '../sandbox/of-command.js';
import { readSandbox } from '../sandbox/read-policy.js';
import type { ResolvedSandbox } from '../sandbox/resolve.js';
import { withUndo } from '../sandbox/undo/with-undo.js';
import { absolutePath } from '../support/paths.js';
import { nextTurn, refused } from '../support/timing.js';
import { type CommandLine, checkCommandLine, shellTextOf } from './command-line.js';
import { type CommandJob, onceStarted, type StartedCommand, untilEnded } from './promise.js';

const DEFAULT_KEPT_BYTES = 128 * 1024;
const DEFAULT_GRACE_MS = 5000;

/** The part of a caller that controls a command while the command runs. */
export interface CommandFollower {
  /** Whether the command's stdin stays open, so that the follower can write to it. */
  readonly takesInput: boolean;
  /** The size of the command's terminal by now, if the follower may change it. */
  readonly terminal?: TerminalSize | undefined;
  /** Called once the command runs. */
  readonly started: (started: Pick<StartedCommand, 'pid' | 'handle'>) => void;
}

/**
 * Runs a command to its end. A command that fails is a result. The options must have been checked.
 *
 * @param environment The environment block, as `resolveEnvironment` makes it.
 * @param follower Controls the command while it runs.
 * @throws {InputError} The command is not valid; nothing was started.
 * @throws {LaunchError} The command could not be started.
 */
export function execute(
  command: CommandLine,
  environment: string,
  options: ExecuteOptions & { readonly streams: 'separate' },
  follower?: CommandFollower,
): Promise<SeparateResult>;
export function execute(
  command: CommandLine,
  environment: string,
  options: ExecuteOptions & { readonly streams?: 'merged' },
  follower?: CommandFollower,
): Promise<MergedResult>;
export function execute(
  command: CommandLine,
  environment: string,
  options: ExecuteOptions,
  follower?: CommandFollower,
): Promise<RunResult>;
export function execute(
  command: CommandLine,
  environment: string,
  options: ExecuteOptions,
  follower?: CommandFollower,
): Promise<RunResult> {
  const { signal, owner, onOutput, onExec, input } = options;
  try {
    checkCommandLine(command, options);
    const request = requested(command, options);
    if (signal?.aborted || owner?.isDisposed) {
      const by = signal?.aborted ? 'signal' : 'owner';
      return nextTurn().then(() => neverStarted(request, by));
    }
    const stdin = input === undefined ? (follower?.takesInput ?? false) : toBytes(input);
    const listen = onOutput && 'text';
    const job = {
      command: engineCommand(request, environment, options, stdin, listen, false),
      request,
      owner,
      signal,
      limits: options.limits,
      output: onOutput && toListener(inCallersContext(onOutput, options)),
      onExec: onExec && inCallersContext(onExec, options),
      // The engine delivers more only after `onOutput` has returned.
      delivered: (handle: CommandHandle) => handle.resume(),
    };
    const ended = untilEnded(job, follower && ((pid, handle) => follower.started({ pid, handle })));
    const { onDenied } = options;
    // A follower controls one run, so the command is not run again.
    if (onDenied === undefined || follower !== undefined) return ended;
    return ended.then((first) =>
      orAgain(first, onDenied, options, (sandbox) =>
        // The sandbox of the second run has `undo` as the first one.
        execute(command, environment, {
          ...options,
          sandbox,
          undo: undefined,
          onDenied: undefined,
        }),
      ),
    );
  } catch (error) {
    return refused(error);
  }
}

function toListener(onOutput: (chunk: OutputChunk) => unknown): NonNullable<CommandJob['output']> {
  return ({ data, droppedBytes }, stream) => onOutput({ stream, text: String(data), droppedBytes });
}

/**
 * Starts a command and resolves once it runs. The command runs until it ends by itself or its owner is
 * disposed of. The options must have been checked.
 *
 * @throws {LaunchError} The command could not be started.
 * @throws Error The owner was disposed of before the command could start.
 */
export async function startCommand(
  command: string,
  environment: string,
  options: Omit<ExecuteOptions, 'onOutput' | 'input'>,
  follower: CommandFollower & { readonly tell: (chunk: OutputChunk) => void },
): Promise<StartedCommand> {
  const request = requested(command, options);
  const started = await onceStarted({
    command: engineCommand(request, environment, options, follower.takesInput, 'text', false),
    request,
    owner: options.owner,
    signal: options.signal,
    limits: options.limits,
    output: toListener(follower.tell),
    onExec: options.onExec && inCallersContext(options.onExec, options),
    delivered: (handle) => handle.resume(),
  });
  follower.started(started);
  return started;
}

/** The facts of a request that the result repeats. */
export function requested(command: CommandLine, options: ExecuteOptions): Requested {
  const { spill, streams, timeoutMs } = options;
  const path = spill === undefined ? undefined : spillPathOf(spill);
  // The path is made absolute now: the host may change its directory before the file is made.
  const spillPath = path === undefined ? undefined : absolute('spill', path);
  return {
    command: shellTextOf(command),
    argv: typeof command === 'string' ? undefined : [...command],
    separate: streams === 'separate',
    timeoutMs,
    spillPath,
  };
}

/** Makes the command that the engine takes. Returns one literal, since every command passes here. */
export function engineCommand(
  { command, argv, spillPath }: Requested,
  environment: string,
  options: ExecuteOptions,
  stdin: EngineCommand['stdin'],
  listen: EngineCommand['listen'],
  pause: boolean,
): EngineCommand {
  const { cwd, shell, spill } = options;
  const limits = typeof spill === 'object' ? spill : undefined;
  const text = argv?.join('\0') ?? command;
  const sandboxed =
    options.sandbox === undefined && options.undo === undefined
      ? undefined
      : resolveInSandbox(options, text);
  return {
    text: command,
    argv,
    shells: shell?.join('\0') ?? '',
    environment:
      sandboxed === undefined ? environment : sandboxEnvironment(environment, sandboxed.sandbox),
    directory: sandboxed?.directory ?? (cwd && absolute('cwd', cwd)),
    follow: options.followDirectory ?? false,
    lowPriority: options.priority === 'low',
    startsAtOnce: options.startsAtOnce,
    umask: options.umask,
    stdin,
    separate: options.streams === 'separate',
    terminal: options.pty === undefined ? undefined : terminalSize(options.pty),
    headBytes: options.headBytes ?? DEFAULT_KEPT_BYTES,
    tailBytes: options.tailBytes ?? DEFAULT_KEPT_BYTES,
    encoding: options.encoding === undefined ? undefined : encodingOf(options.encoding),
    listen,
    pause,
    spillPath,
    spillMaxBytes: limits?.maxBytes ?? Number.MAX_SAFE_INTEGER,
    spillAfterBytes: limits?.afterBytes ?? undefined,
    timeoutMs: options.timeoutMs,
    graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
    groups: undefined,
    isSacrificed: false,
    cpuSeconds: options.limits?.cpuSeconds ?? 0,
    sandbox: sandboxed?.sandbox,
  };
}

/** Resolves the sandbox and the directory in it, as a path: an open directory would lead out of it. */
function resolveInSandbox(
  { sandbox, undo, cwd = '.' }: ExecuteOptions,
  text: string,
): { sandbox: ResolvedSandbox; directory: string } | undefined {
  const policy = readSandbox(withUndo(sandbox, undo));
  if (policy === undefined) return undefined;
  const directory = absolute('cwd', cwd);
  return { sandbox: sandboxOfCommand(policy, directory, text), directory };
}

export function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
}

/** Makes a path absolute. Nearly every path is already, and is then valid without further checks. */
function absolute(name: string, path: string | URL): string {
  const isAbsolute = typeof path === 'string' && path.startsWith('/');
  return isAbsolute ? resolve(path) : absolutePath(name, path);
}
