import type { Readable } from 'node:stream';
import type { EngineChunk } from '../../message.js';
import type { Capture, StreamName } from '../../outcome.js';
import { type Listening, Live } from '../capture/live.js';
import { PortableCapture } from '../capture/stream-capture.js';

/** What an output needs to know of its command. Sizes in bytes. */
interface OutputDemand {
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly listening: Listening | undefined;
}

/** Who is told of an output. */
export interface OutputEvents {
  /** Called before the bytes are captured. */
  arriving(output: Output, chunk: Buffer): void;
  /** Something has come, or it has ended. */
  changed(): void;
}

/** One output of a command, read from a pipe, or from two that have become one. */
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

  /** Whether nobody holds the other end any more. */
  get hasEnded(): boolean {
    return this.#sources.size === 0;
  }

  /** Whether its listener is so far behind that the command should wait. */
  get isFull(): boolean {
    return !this.#isOver && (this.#live?.isFull ?? false);
  }

  /** Leaves the pipe alone, or reads it again. */
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

  /** What may be delivered now, and when there will be more: of `performance.now()`. */
  due(now: number): { readonly chunks: readonly EngineChunk[]; readonly at: number | undefined } {
    const at = this.#isOver ? undefined : this.#live?.due(now);
    if (at === undefined || at > now) return { chunks: [], at };
    return { chunks: this.#live?.take(now) ?? [], at: undefined };
  }

  /** All that has not been delivered. What comes from now on is read, and dropped. */
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
    // A pipe that can't be read has ended.
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
