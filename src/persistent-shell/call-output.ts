import type { Capture, OutputChunk } from '../engine/outcome.js';
import type { OutputLimits } from '../options/command-options.js';
import { settlesWithin } from '../support/timing.js';
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
const LOOK_MS = 15;

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

  /** @throws {PipesError | LaunchError} The pipes cannot be made. */
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

  /**
   * The shell has opened both pipes, and so has gone on to the text. To be asked once the call is over:
   * of an empty one that nobody holds any more, the kernel tells a moment later.
   */
  async wasOpened(): Promise<boolean> {
    // It is opened last.
    const { stderr } = this;
    return stderr.wasOpened || (await settlesWithin(stderr.over, QUIET_MS, 'keepsAlive'));
  }

  /**
   * The call is over, and so is its output, but for what its processes may just be writing.
   *
   * @param isHeld Whether somebody beside the shell, which keeps it, may have a pipe open.
   */
  async finish(isHeld: () => boolean): Promise<void> {
    this.#drain();
    const over = Promise.all([this.stdout.over, this.stderr.over]);
    const start = performance.now();
    for (let seen = this.#bytes, since = start, now = start; isHeld(); now = performance.now()) {
      if (seen !== this.#bytes) [seen, since] = [this.#bytes, now];
      if (now - since >= QUIET_MS || now - start >= LONGEST_MS) break;
      if (await settlesWithin(over, LOOK_MS, 'keepsAlive')) break;
    }
    this.#drain();
    this.stdout.finish();
    this.stderr.finish();
    this.#paced?.flush();
    this.forgetNames();
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

  #drain(): void {
    this.stdout.drain();
    this.stderr.drain();
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
    this.#capture = captureStream(encoding, limits, onOutput !== undefined);
    this.#reader = new PipeReader(pipe, (bytes) => {
      this.bytes += bytes.length;
      tell(this.#capture.push(bytes));
    });
    this.over = this.#reader.over;
  }

  get wasOpened(): boolean {
    return this.#reader.wasOpened;
  }

  drain(): void {
    this.#reader.drain();
  }

  /** What comes from now on is nobody's. */
  finish(): void {
    this.#reader.release();
    this.#tell(this.#capture.end());
  }

  close(): void {
    this.#reader.close();
  }

  /** What has been kept of it. */
  capture(): Capture {
    return this.#capture.capture();
  }
}
