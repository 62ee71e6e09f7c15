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

/** A label of `TextDecoder`, other than the two words beside it. */
type Encoding = string & {};

/** How a command is started that is talked to while it runs. */
export type SpawnOptions = Omit<OptionsOf<'spawn'>, 'encoding'> & {
  /**
   * 'pipe': `write()` and `end()` feed it. Default: 'null', so that a program that happens to look
   * at its stdin does not wait for ever. Not with `pty`, where `write()` always works.
   */
  readonly stdin?: 'null' | 'pipe' | undefined;
  /**
   * Chunks of text, never split inside a character (the default), or of exact bytes; or the encoding
   * of its text, as that of `run()`.
   */
  readonly encoding?: 'text' | 'bytes' | Encoding | undefined;
  /**
   * What happens when chunks are not taken as fast as they come: 'drop' loses the middle of what
   * waits and says how much (the default), 'pause' lets the command wait, as on any full pipe,
   * until the reader leaves.
   */
  readonly overflow?: 'drop' | 'pause' | undefined;
};

/** The names of those options. */
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

/** What a live command has printed so far: one stream, or two. */
export type Snapshot =
  | { readonly output: Capture }
  | { readonly stdout: Capture; readonly stderr: Capture };

/** A command that runs. Iterating over it gives its output as it comes. */
export interface LiveProcess<Chunk = OutputChunk> extends AsyncIterable<Chunk>, AsyncDisposable {
  /** Process id; also that of its process group and its session. */
  readonly pid: number;
  /** Settles once it has ended, as the promise of `run()` does. */
  readonly result: Promise<RunResult>;
  /**
   * Writes to its stdin (started with `stdin: 'pipe'`), or types into its terminal (`pty`).
   * Resolves once the bytes are in the pipe. Typed bytes mean what they mean on any terminal: `\r` is Enter, `\x04` at the start of
   * a line the end of the input, `\x03` interrupts, and a line is at most 4,095 bytes long unless
   * the program has switched line editing off.
   *
   * @throws {InputError} The data is neither text nor bytes, or it has no stdin to write to.
   * @throws Error with `code: 'EPIPE'`: it has ended, or closed its stdin.
   */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * Closes its stdin, once everything is written.
   *
   * @throws {InputError} It has no stdin to close; on a terminal write `\x04`.
   */
  end(): void;
  /**
   * Gives its terminal another size, 20 to 400 by 5 to 200; the command is told by SIGWINCH.
   * Nothing happens when it has ended.
   *
   * @throws {InputError} It has no terminal, or the size is out of range.
   */
  resize(columns: number, rows: number): void;
  /**
   * Sends a signal to its process group; false when it has ended.
   *
   * @throws {InputError} There is no such signal.
   */
  signal(signal: NodeJS.Signals): Promise<boolean>;
  /**
   * Ends it and everything it started: SIGTERM, grace, SIGKILL. Resolves when it is gone. What it
   * left behind when it ended by itself is its owner's to end.
   *
   * @param options `graceMs`: milliseconds from SIGTERM to SIGKILL. Default: that of the command.
   * @throws {InputError} The grace is no time in milliseconds, or an option is unknown.
   */
  kill(options?: { readonly graceMs?: number | undefined }): Promise<RunResult>;
  /**
   * Lets the host exit before it has ended; what still runs then is ended with the host. `ref()`
   * takes it back.
   */
  unref(): void;
  /** Takes `unref()` back: the host stays alive until the command has ended. */
  ref(): void;
  /**
   * What it has printed so far, within the same limits as the result; undefined once it is over.
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
 * @throws {LaunchError} It could not be started.
 * @throws What the signal was aborted with, when that was before the start.
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
    checkOptions(forExecution(options));
    return spawnIn(commandEnvironment(forExecution(options)), command, options);
  });
}

/** Starts a command as {@link spawn} does, with an environment block that is made already. */
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
  checkOptions(forExecution(options));
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

/** The two words are no encodings. */
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
  const asked = requested(command, options);
  const { streams, pty } = options;
  const { owner, signal, stdin, input, encoding, overflow } = options;
  // Both are called by a reader, and there is none before it runs.
  const chunks = new ChunkQueue<Chunk>(
    () => started.handle.resume(),
    () => started.handle.detach(),
  );
  const started: StartedCommand = await onceStarted({
    command: engineCommand(
      asked,
      environment,
      forExecution(options),
      input === undefined ? stdin === 'pipe' : toBytes(input),
      encoding === 'bytes' ? 'bytes' : 'text',
      overflow === 'pause',
    ),
    asked,
    owner,
    signal,
    limits: options.limits,
    output: (chunk, stream) => chunks.put([toChunk(stream, chunk)]),
    closed: () => chunks.close(),
  });
  return live(started, chunks, { stdin, streams, pty });
}

/** What talking to a command depends on. */
type Talk = { readonly [Name in 'stdin' | 'streams' | 'pty']: SpawnOptions[Name] };

function live<Chunk>(
  { pid, handle, result }: StartedCommand,
  chunks: ChunkQueue<Chunk>,
  { stdin, streams, pty }: Talk,
): LiveProcess<Chunk> {
  const piped = (): void => {
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
      if (!pty) piped();
      await handle.write(toBytes(data));
    },
    end() {
      if (pty) {
        throw new InputError("end: expected no pty; there write('\\x04') ends the input");
      }
      piped();
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
