import type { OutputLimits } from '../../../command/options.js';
import type { Capture, OutputChunk } from '../../../engine/outcome.js';
import { settlesWithin } from '../../../support/timing.js';
import { PacedOutput } from './paced-output.js';
import { PipeReader } from './pipe-reader.js';
import type { NamedPipe, Pipes } from './pipes.js';
import { captureStream, type StreamCapture } from './stream-capture.js';

/** How a call's output is kept, and who hears of it as it comes. */
export interface OutputOptions {
  readonly limits: OutputLimits;
  /** Undefined: UTF-8. */
  readonly encoding: string | undefined;
  readonly onOutput: ((chunk: OutputChunk) => void) | undefined;
}

/** As the engine waits for what a process that still has the pipe may be about to write. */
const QUIET_MS = 250;
const LONGEST_MS = 2000;

/** What one call prints: two pipes of its own, read to the end of what belongs to it. */
export class CallOutput {
  readonly stdout: CallStream;
  readonly stderr: CallStream;
  readonly #pipes: Pipes;
  readonly #paced: PacedOutput | undefined;
  #areNamed = true;

  private constructor(
    pipes: Pipes,
    streams: readonly [CallStream, CallStream],
    paced?: PacedOutput,
  ) {
    [this.stdout, this.stderr] = streams;
    this.#pipes = pipes;
    this.#paced = paced;
  }

  /** @throws {ToolError | LaunchError} The pipes cannot be made. */
  static async open(pipes: Pipes, number: number, options: OutputOptions): Promise<CallOutput> {
    const paced = options.onOutput && new PacedOutput(options.onOutput);
    const out = await pipes.make(`${number}.out`, false);
    const stdout = new CallStream(out, options, (text) => paced?.push('stdout', text));
    try {
      const err = await pipes.make(`${number}.err`, false);
      const stderr = new CallStream(err, options, (text) => paced?.push('stderr', text));
      return new CallOutput(pipes, [stdout, stderr], paced);
    } catch (error) {
      stdout.close();
      throw error;
    }
  }

  /** Somebody has had both pipes; with nothing in one, that is known once he has it no more. */
  get hasBegun(): boolean {
    return this.stdout.hasBegun && this.stderr.hasBegun;
  }

  /** The call is over, and so is its output, but for what its processes may just be writing. */
  async finish(): Promise<void> {
    this.stdout.drain();
    this.stderr.drain();
    const over = Promise.all([this.stdout.over, this.stderr.over]);
    const latest = performance.now() + LONGEST_MS;
    for (let seen = -1; seen !== this.#bytes && performance.now() < latest; ) {
      seen = this.#bytes;
      if (await settlesWithin(over, QUIET_MS, 'keepsAlive')) break;
    }
    this.stdout.finish();
    this.stderr.finish();
    this.#paced?.flush();
    this.forgetNames();
  }

  /** What was printed elsewhere, and belongs to the call. */
  addLast(stdout: string): void {
    this.stdout.add(stdout);
    this.#paced?.flush();
  }

  /** Whoever is to open them has, or comes another way. */
  forgetNames(): void {
    if (!this.#areNamed) return;
    this.#areNamed = false;
    for (const { pipe } of [this.stdout, this.stderr]) this.#pipes.forget(pipe);
  }

  /** Nobody is left who could write: a pipe that nobody has ever opened has no end by itself. */
  close(): void {
    this.stdout.close();
    this.stderr.close();
  }

  get #bytes(): number {
    return this.stdout.bytes + this.stderr.bytes;
  }
}

/** One of a call's two streams. */
class CallStream {
  readonly pipe: NamedPipe;
  readonly over: Promise<void>;
  bytes = 0;
  #isOver = false;
  readonly #isEncoded: boolean;
  readonly #capture: StreamCapture;
  readonly #reader: PipeReader;
  readonly #tell: (text: string) => void;

  constructor(
    pipe: NamedPipe,
    { encoding, limits, onOutput }: OutputOptions,
    tell: (text: string) => void,
  ) {
    this.pipe = pipe;
    this.#tell = tell;
    this.#isEncoded = encoding !== undefined;
    this.#capture = captureStream(encoding, limits, onOutput !== undefined);
    this.#reader = new PipeReader(pipe, (bytes) => {
      this.bytes += bytes.length;
      tell(this.#capture.push(bytes));
    });
    this.over = this.#reader.over.then(() => {
      this.#isOver = true;
    });
  }

  get hasBegun(): boolean {
    return this.#isOver || this.bytes > 0;
  }

  drain(): void {
    this.#reader.drain();
  }

  /** What comes from now on is nobody's. */
  finish(): void {
    this.#reader.release();
    this.#tell(this.#capture.end());
  }

  add(text: string): void {
    // Bytes in another encoding nobody has kept.
    if (text === '' || this.#isEncoded) return;
    const bytes = Buffer.from(text);
    this.bytes += bytes.length;
    this.#tell(this.#capture.push(bytes));
  }

  close(): void {
    this.#reader.close();
  }

  /** What has been kept of it. */
  capture(): Capture {
    return this.#capture.capture();
  }
}
