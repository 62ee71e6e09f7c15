import type { CommandEvents, EngineChunk, EngineCommand, EngineEnd } from '../../engine/message.js';
import type { BackgroundProcess, Capture, StreamName } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import type { CommandHandle, CommandHost } from '../../engine/process.js';
import { DecodedCapture } from './decoded-capture.js';

/** The most characters that wait for a listener which does not make the command wait. */
const MAX_WAITING = 1024 * 1024;

/** The most bytes that a character takes in UTF-8 for each byte in another encoding. */
const MOST_GROWTH = 3;

/**
 * Wraps a host for commands that do not print UTF-8. The engine delivers bytes; the chunks, captures and
 * snapshots of text are made here in its place.
 */
export function decoding(host: CommandHost, encoding: string): CommandHost {
  return {
    start: (owner, command, events) => new DecodedProcess(host, encoding, owner, command, events),
  };
}

class DecodedProcess implements CommandHandle, CommandEvents {
  readonly started?: (pid: number) => void;
  readonly asked: CommandEvents['asked'];
  readonly #events: CommandEvents;
  readonly #inner: CommandHandle;
  /** Captures by stream, in the order that results have. */
  readonly #captures: ReadonlyMap<StreamName, DecodedCapture>;
  readonly #holds: boolean;
  #listens: boolean;
  /** Whether the listener can take a delivery. */
  #wants = true;
  #waiting: { stream: StreamName; data: string; droppedBytes: number }[] = [];
  #waitingSize = 0;

  constructor(
    host: CommandHost,
    encoding: string,
    owner: Owner,
    command: EngineCommand,
    events: CommandEvents,
  ) {
    const names: readonly StreamName[] = command.separate ? ['stdout', 'stderr'] : ['output'];
    this.#captures = new Map(names.map((name) => [name, new DecodedCapture(encoding, command)]));
    this.#events = events;
    this.asked = events.asked;
    this.#holds = command.pause;
    this.#listens = command.listen !== undefined;
    const { started } = events;
    if (started !== undefined) this.started = (pid) => started.call(events, pid);
    const { spillAfterBytes } = command;
    this.#inner = host.start(
      owner,
      {
        ...command,
        listen: 'bytes',
        // The engine must not drop bytes before they are decoded.
        pause: true,
        // The file must be made for each output that may be too long as text.
        spillAfterBytes: spillAfterBytes && Math.floor(spillAfterBytes / MOST_GROWTH),
      },
      this,
    );
  }

  output(stream: StreamName, chunks: readonly EngineChunk[]): void {
    for (const { data } of chunks) {
      const text = typeof data === 'string' ? data : (this.#captures.get(stream)?.push(data) ?? '');
      this.#queue(stream, text);
    }
    this.#deliver();
    if (!this.#holds || !this.#listens) this.#inner.resume();
  }

  ended(end: EngineEnd): void {
    if (end.kind !== 'ran') {
      this.#events.ended(end);
      return;
    }
    for (const [stream, capture] of this.#captures) this.#queue(stream, capture.end());
    while (this.#waiting.length > 0) {
      this.#wants = true;
      this.#deliver();
    }
    this.#events.ended({ ...end, captures: this.#kept() });
  }

  expire(): void {
    this.#inner.expire();
  }

  resume(): void {
    this.#wants = true;
    // The listener is not called within its own call of resume(): the engine does not do that either.
    if (this.#waiting.length > 0) queueMicrotask(() => this.#deliver());
    if (this.#holds) this.#inner.resume();
  }

  detach(): void {
    this.#listens = false;
    this.#waiting = [];
    this.#waitingSize = 0;
    this.#inner.resume();
  }

  members(): Promise<readonly BackgroundProcess[] | undefined> {
    return this.#inner.members();
  }

  gone(): Promise<boolean> {
    return this.#inner.gone();
  }

  async snapshot(): Promise<readonly Capture[] | undefined> {
    return (await this.#inner.snapshot()) && this.#kept();
  }

  cancel(graceMs?: number): void {
    this.#inner.cancel(graceMs);
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#inner.write(bytes);
  }

  endInput(): void {
    this.#inner.endInput();
  }

  resize(columns: number, rows: number): void {
    this.#inner.resize(columns, rows);
  }

  signal(signal: NodeJS.Signals): Promise<boolean> {
    return this.#inner.signal(signal);
  }

  holdHost(holds: boolean): void {
    this.#inner.holdHost(holds);
  }

  #kept(): readonly Capture[] {
    return [...this.#captures.values()].map((capture) => capture.capture());
  }

  #queue(stream: StreamName, data: string): void {
    if (!this.#listens || data === '') return;
    this.#waiting.push({ stream, data, droppedBytes: 0 });
    this.#waitingSize += data.length;
    while (!this.#holds && this.#waitingSize > MAX_WAITING && this.#waiting.length > 2) {
      this.#dropOldest();
    }
  }

  /** Drops the oldest chunk. The next chunk of the same stream reports it; sooner or later there is one. */
  #dropOldest(): void {
    const [oldest] = this.#waiting.splice(0, 1);
    if (oldest === undefined) return;
    this.#waitingSize -= oldest.data.length;
    const next = this.#waiting.find(({ stream }) => stream === oldest.stream);
    if (next === undefined) return;
    next.droppedBytes += oldest.droppedBytes + Buffer.byteLength(oldest.data);
  }

  /** Makes a delivery for each stream. The listener may ask for the next delivery while it handles one. */
  #deliver(): void {
    while (this.#wants && this.#waiting.length > 0) {
      const stream = this.#waiting[0]?.stream ?? 'output';
      const rest = this.#waiting.findIndex((chunk) => chunk.stream !== stream);
      const batch = this.#waiting.splice(0, rest === -1 ? this.#waiting.length : rest);
      for (const { data } of batch) this.#waitingSize -= data.length;
      this.#wants = false;
      this.#events.output?.(stream, batch);
    }
  }
}
