import { inCallersContext } from '../engine/caller.js';
import type { EngineChunk } from '../engine/message.js';
import type { BytesChunk, Capture, OutputChunk, RunResult, StreamName } from '../engine/outcome.js';
import { checkOptions } from '../options/check.js';
import type { CommandOptions } from '../options/command-options.js';
import { encodingOf } from '../options/encoding.js';
import { MISTAKES, namesOf, type OptionsOf } from '../options/roads.js';
import { checkExtent } from '../options/terminal.js';
import { checkData, checkGrace, checkLiveOptions, checkSignal } from '../options/values.js';
import { throwIfAborted } from '../support/abort.js';
import { type OptionNames, readOptions } from '../support/checks.js';
import { InputError } from '../support/errors.js';
import { inLaterTurn } from '../support/timing.js';
import { ChunkQueue } from './chunk-queue.js';
import { type CommandLine, checkCommandLine } from './command-line.js';
import { engineCommand, requested, toBytes } from './execute.js';
import { onceStarted, ownerDisposed, type StartedCommand } from './promise.js';
import { commandEnvironment } from './run.js';

/** A label of `TextDecoder`; keeps editors suggesting 'text' and 'bytes' beside it. */
type Encoding = string & {};

/** The options of `spawn()`. */
export type SpawnOptions = Omit<OptionsOf<'spawn'>, 'encoding'> & {
  /**
   * The command's stdin: 'pipe' is fed by `write()` and `end()`, 'null' is `/dev/null`. Default: 'null',
   * so that a program that reads its stdin does not wait for ever. Not to be set with `pty`, where
   * `write()` always works.
   */
  readonly stdin?: 'null' | 'pipe' | undefined;
  /**
   * The kind of chunks: 'text', never split inside a character, or 'bytes', exactly as printed; or the
   * encoding of the command's output, as for `run()`, for chunks of text. Default: 'text'.
   */
  readonly encoding?: 'text' | 'bytes' | Encoding | undefined;
  /**
   * The behaviour when the reader is slower than the command: 'drop' loses the middle of the waiting
   * output and says how many bytes (`droppedBytes`); 'pause' makes the command wait, as on any full pipe,
   * until the reader has caught up or stops reading. Default: 'drop'.
   */
  readonly overflow?: 'drop' | 'pause' | undefined;
};

/** The names of the options of `spawn()`. */
export const SPAWN_OPTION_NAMES: OptionNames<SpawnOptions> = {
  ...namesOf('spawn'),
  stdin: true,
  overflow: true,
};
const SPAWN_MISTAKES = {
  ...MISTAKES,
  onOutput: 'iterate over the process to get its output as it comes',
  onDenied: 'look at result.sandbox.denials, and start it again yourself',
};
const KILL_NAMES: OptionNames<NonNullable<Parameters<LiveProcess['kill']>[0]>> = { graceMs: true };

/** The output of a live command so far: one stream, or two with `streams: 'separate'`. */
export type Snapshot =
  | { readonly output: Capture }
  | { readonly stdout: Capture; readonly stderr: Capture };

/** A command started by `spawn()`. Iterating over it gives the output as it comes. */
export interface LiveProcess<Chunk = OutputChunk> extends AsyncIterable<Chunk>, AsyncDisposable {
  /** The process id of the command, which is also the id of its process group and its session. */
  readonly pid: number;
  /** Settles once the command has ended, as the promise of `run()` does. */
  readonly result: Promise<RunResult>;
  /**
   * Writes to the command's stdin (with `stdin: 'pipe'`), or types into its terminal (with `pty`).
   * Resolves once the bytes are in the pipe. On a terminal, `\r` is Enter, `\x04` at the start of a line
   * ends the input, `\x03` interrupts, and a line is at most 4,095 bytes long unless the program has
   * switched line editing off.
   *
   * @throws {InputError} The data is neither text nor bytes, or the command has no stdin to write to.
   * @throws Error with `code: 'EPIPE'`: the command has ended, or has closed its stdin.
   */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * Closes the command's stdin once everything is written.
   *
   * @throws {InputError} The command has no stdin to close; on a terminal write `\x04`.
   */
  end(): void;
  /**
   * Changes the size of the command's terminal: 20 to 400 columns, 5 to 200 rows. The command gets
   * SIGWINCH. Has no effect once the command has ended.
   *
   * @throws {InputError} The command has no terminal, or the size is out of range.
   */
  resize(columns: number, rows: number): void;
  /**
   * Sends a signal to the command's process group. Resolves with false if the command has ended.
   *
   * @throws {InputError} There is no such signal.
   */
  signal(signal: NodeJS.Signals): Promise<boolean>;
  /**
   * Ends the command and everything it started: SIGTERM, then SIGKILL after the grace. Resolves when all
   * are gone. If the command has ended by itself, processes that it left running are ended by its owner.
   *
   * @param options `graceMs`: milliseconds from SIGTERM to SIGKILL. Default: `graceMs` of the command.
   * @throws {InputError} `graceMs` is no time in milliseconds, or an option is unknown.
   */
  kill(options?: { readonly graceMs?: number | undefined }): Promise<RunResult>;
  /**
   * Lets the host exit before the command has ended; the command is ended with the host then. `ref()`
   * undoes this.
   */
  unref(): void;
  /** Undoes `unref()`: the host stays alive until the command has ended. */
  ref(): void;
  /**
   * Returns the output so far, within the same limits as the result; undefined once the command has ended.
   */
  snapshot(): Promise<Snapshot | undefined>;
}

/**
 * Starts a command and resolves once it runs.
 *
 * ```ts
 * const server = await spawn('npm run dev', { cwd });
 * for await (const chunk of server) if (chunk.text.includes('ready')) break;
 * await server.kill();
 * ```
 *
 * @param command Shell text, or a program and its arguments: see {@link run}.
 * @throws {InputError} An option is not valid; nothing was started.
 * @throws {LaunchError} The command could not be started.
 * @throws The reason of the signal, if it was aborted before the start.
 */
export function spawn(
  command: CommandLine,
  options: SpawnOptions & { readonly encoding: 'bytes' },
): Promise<LiveProcess<BytesChunk>>;
export function spawn(
  command: CommandLine,
  options?: SpawnOptions & { readonly encoding?: 'text' | Encoding },
): Promise<LiveProcess>;
export async function spawn(
  command: CommandLine,
  given: SpawnOptions = {},
): Promise<LiveProcess | LiveProcess<BytesChunk>> {
  return inLaterTurn(async () => {
    const options = readOptions('options', given, SPAWN_OPTION_NAMES, { mistakes: SPAWN_MISTAKES });
    checkSpawnOptions(options);
    return spawnIn(commandEnvironment(options), command, options);
  });
}

/**
 * Checks options of `spawn()` by the table.
 *
 * @throws {InputError} Names the option, the expected value and the given one.
 */
export function checkSpawnOptions(options: SpawnOptions): void {
  checkOptions(forExecution(options));
}

/** Starts a command as {@link spawn} does, with an environment block that the caller has made. The options must have been checked. */
export function spawnIn(
  environment: string,
  command: CommandLine,
  options: SpawnOptions & { readonly encoding: 'bytes' },
): Promise<LiveProcess<BytesChunk>>;
export function spawnIn(
  environment: string,
  command: CommandLine,
  options: SpawnOptions,
): Promise<LiveProcess | LiveProcess<BytesChunk>>;
export async function spawnIn(
  environment: string,
  command: CommandLine,
  options: SpawnOptions,
): Promise<LiveProcess | LiveProcess<BytesChunk>> {
  checkCommandLine(command, options);
  checkLiveOptions(options);
  if (options.signal) throwIfAborted(options.signal);
  if (options.owner?.isDisposed) throw ownerDisposed();
  return options.encoding === 'bytes'
    ? start<BytesChunk>(command, environment, options, (stream, { data, droppedBytes }) => {
        return { stream, bytes: toBytes(data), droppedBytes };
      })
    : start<OutputChunk>(command, environment, options, (stream, { data, droppedBytes }) => {
        return { stream, text: String(data), droppedBytes };
      });
}

/** The options for the command itself: 'text' and 'bytes' are no encodings of its output. */
function forExecution(options: SpawnOptions): CommandOptions {
  const { encoding } = options;
  if (encoding === 'text' || encoding === 'bytes') return { ...options, encoding: undefined };
  if (encoding !== undefined) encodingOf(encoding, "'text', 'bytes' or ");
  return options;
}

async function start<Chunk>(
  command: CommandLine,
  environment: string,
  options: SpawnOptions,
  toChunk: (stream: StreamName, chunk: EngineChunk) => Chunk,
): Promise<LiveProcess<Chunk>> {
  const request = requested(command, options);
  const { streams, pty } = options;
  const { owner, signal, stdin, input, encoding, overflow } = options;
  // Both are called by a reader, and there is no reader before the command runs.
  const chunks = new ChunkQueue<Chunk>(
    () => started.handle.resume(),
    () => started.handle.detach(),
  );
  const started: StartedCommand = await onceStarted({
    command: engineCommand(
      request,
      environment,
      forExecution(options),
      input === undefined ? stdin === 'pipe' : toBytes(input),
      encoding === 'bytes' ? 'bytes' : 'text',
      overflow === 'pause',
    ),
    request,
    owner,
    signal,
    limits: options.limits,
    output: (chunk, stream) => chunks.put([toChunk(stream, chunk)]),
    onExec: options.onExec && inCallersContext(options.onExec, options),
    closed: () => chunks.close(),
  });
  return live(started, chunks, { stdin, streams, pty });
}

/** The options that decide how a running command can be written to and read from. */
type LiveOptions = { readonly [Name in 'stdin' | 'streams' | 'pty']: SpawnOptions[Name] };

function live<Chunk>(
  { pid, handle, result }: StartedCommand,
  chunks: ChunkQueue<Chunk>,
  { stdin, streams, pty }: LiveOptions,
): LiveProcess<Chunk> {
  const checkPiped = (): void => {
    if (stdin !== 'pipe') throw new InputError("stdin: expected 'pipe' at spawn(), got 'null'");
  };
  const kill: LiveProcess['kill'] = async (options = {}) => {
    const { graceMs } = readOptions('options', options, KILL_NAMES);
    checkGrace(graceMs);
    handle.cancel(graceMs);
    return result;
  };
  return {
    pid,
    result,
    kill,
    async write(data) {
      checkData('data', data);
      if (!pty) checkPiped();
      await handle.write(toBytes(data));
    },
    end() {
      if (pty) {
        throw new InputError(
          "end: expected a command without pty; on a terminal write('\\x04') ends the input",
        );
      }
      checkPiped();
      handle.endInput();
    },
    resize(columns, rows) {
      if (!pty) throw new InputError('resize: expected a command with pty, got one without');
      handle.resize(checkExtent('columns', columns), checkExtent('rows', rows));
    },
    async signal(signal) {
      checkSignal(signal);
      return handle.signal(signal);
    },
    unref: () => handle.holdHost(false),
    ref: () => handle.holdHost(true),
    async snapshot() {
      const [first, second] = (await handle.snapshot()) ?? [];
      if (first === undefined) return undefined;
      if (streams !== 'separate' || second === undefined) return { output: first };
      return { stdout: first, stderr: second };
    },
    [Symbol.asyncIterator]: () => chunks.iterate(),
    async [Symbol.asyncDispose]() {
      await kill();
    },
  };
}
