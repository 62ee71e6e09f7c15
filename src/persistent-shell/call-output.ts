import type { NamedPipe } from '../engine/local-stream.js';
import type { Capture, OutputChunk } from '../engine/outcome.js';
import type { OutputLimits } from '../options/command-options.js';
import { settlesWithin } from '../support/timing.js';
import { PacedOutput } from './paced-output.js';
import { PipeReader } from './pipe-reader.js';
import type { Pipes } from './pipes.js';
import { captureStream, type StreamCapture } from './stream-capture.js';

/** Options for a call's output: how it is captured, and the listener to it. */
export interface OutputOptions {
  readonly limits: OutputLimits;
  /** The encoding of the output; undefined: UTF-8. */
  readonly encoding: string | undefined;
  readonly onOutput: ((chunk: OutputChunk) => void) | undefined;
}

/** Waiting times for output of processes that still have a pipe open, in milliseconds, as in the engine. */
const QUIET_MS = 250;
const LONGEST_MS = 2000;
const LOOK_MS = 15;

/** The output of one call, by two pipes of its own. */
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
   * Returns whether the shell has opened both pipes, and so has gone on to the text. Called when the call is
   * over: for an empty pipe without a writer, the kernel reports the end a moment later.
   */
  async wasOpened(): Promise<boolean> {
    // The shell opens stderr last.
    const { stderr } = this;
    return stderr.wasOpened || (await settlesWithin(stderr.over, QUIET_MS, 'keepsAlive'));
  }

  /**
   * Ends the output after the call is over, and waits shortly for what remaining processes may just write.
   *
   * @param isHeld Returns whether a process besides the shell may have a pipe open.
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

  /** Removes the names of the pipes. The shell has opened them, or opens them by the host's descriptors. */
  forgetNames(): void {
    if (!this.#areNamed) return;
    this.#areNamed = false;
    for (const { pipe } of [this.stdout, this.stderr]) this.#pipes.forget(pipe);
  }

  /** Closes the pipes. A pipe that was never opened for writing has no end by itself. */
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

  /** Ends the capture. Later output is dropped. */
  finish(): void {
    this.#reader.release();
    this.#tell(this.#capture.end());
  }

  close(): void {
    this.#reader.close();
  }

  /** Returns the captured output. */
  capture(): Capture {
    return this.#capture.capture();
  }
}
