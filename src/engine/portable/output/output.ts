import type { Readable } from 'node:stream';
import type { EngineChunk } from '../../message.js';
import type { Capture, StreamName } from '../../outcome.js';
import { type Listening, Live } from '../capture/live.js';
import { PortableCapture } from '../capture/stream-capture.js';

/** The settings of an output. Sizes in bytes. */
interface OutputDemand {
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly listening: Listening | undefined;
}

/** Callbacks about an output. */
export interface OutputEvents {
  /** Called before the bytes are captured. */
  arriving(output: Output, chunk: Buffer): void;
  /** Called when bytes have come, or the output has ended. */
  changed(): void;
}

/** One output of a command, read from a pipe, or from two merged ones. */
export class Output {
  readonly stream: StreamName;
  readonly capture: PortableCapture;
  readonly #live: Live | undefined;
  readonly #sources: Set<Readable>;
  readonly #events: OutputEvents;
  /** When bytes last came. */
  lastDataAt = 0;
  #isOver = false;
  #flows = true;

  constructor(
    stream: StreamName,
    sources: readonly Readable[],
    { headBytes, tailBytes, listening }: OutputDemand,
    events: OutputEvents,
  ) {
    this.stream = stream;
    this.capture = new PortableCapture(headBytes, tailBytes);
    this.#live = listening && new Live(listening);
    this.#sources = new Set(sources);
    this.#events = events;
    for (const source of sources) this.#read(source);
  }

  /** Returns whether the pipes have reached EOF. */
  get hasEnded(): boolean {
    return this.#sources.size === 0;
  }

  /** Returns whether its listener is so far behind that the command should wait. */
  get isFull(): boolean {
    return !this.#isOver && (this.#live?.isFull ?? false);
  }

  /** Stops or resumes reading the pipe. */
  flow(flows: boolean): void {
    if (this.#flows === flows) return;
    this.#flows = flows;
    for (const source of this.#sources) {
      if (flows) source.resume();
      else source.pause();
    }
  }

  wantMore(): void {
    this.#live?.want();
  }

  detach(): void {
    this.#live?.detach();
  }

  /** Returns the output to deliver now, and when there will be more, by `performance.now()`. */
  due(now: number): { readonly chunks: readonly EngineChunk[]; readonly at: number | undefined } {
    const at = this.#isOver ? undefined : this.#live?.due(now);
    if (at === undefined || at > now) return { chunks: [], at };
    return { chunks: this.#live?.take(now) ?? [], at: undefined };
  }

  /** Returns all output that was not delivered. Later output is read, and dropped. */
  finish(): { readonly chunks: readonly EngineChunk[]; readonly capture: Capture } {
    this.#isOver = true;
    this.flow(true);
    return { chunks: this.#live?.finish() ?? [], capture: this.capture.snapshot() };
  }

  #read(source: Readable): void {
    const end = (): void => {
      if (this.#sources.delete(source) && !this.#isOver) this.#events.changed();
    };
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.on('close', end);
    source.on('end', end);
    // A pipe that cannot be read counts as ended.
    source.on('error', end);
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#events.arriving(this, chunk);
    this.capture.push(chunk);
    this.#live?.push(chunk);
    this.lastDataAt = performance.now();
    this.#events.changed();
  }
}
