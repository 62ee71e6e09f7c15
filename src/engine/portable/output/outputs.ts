import type { Readable } from 'node:stream';
import { startTimer } from '../../../support/timing.js';
import type { CommandEvents, EngineChunk, EngineCommand } from '../../message.js';
import type { Capture, SpillReport, StreamName } from '../../outcome.js';
import { Output, type OutputEvents } from './output.js';
import { Spill } from './spill.js';

/** Milliseconds without output after the command's end, after which the output counts as complete. */
const QUIET_MS = 250;
/** The longest wait for further output after the command's end. */
const WINDOW_MS = 2000;

/** The final state of all outputs. */
interface Kept {
  readonly captures: readonly Capture[];
  readonly spill: Omit<SpillReport, 'path'> | undefined;
}

/** All outputs of one command: captured, delivered, spilled, and finally complete. */
export class Outputs implements OutputEvents {
  readonly #command: EngineCommand;
  readonly #events: CommandEvents;
  readonly #complete: () => void;
  #outputs: readonly Output[] = [];
  #spill: Spill | undefined;
  /** Output that is left to be delivered, once all is complete. */
  #rest: (readonly [StreamName, readonly EngineChunk[]])[] = [];
  #captures: readonly Capture[] | undefined;
  /** By `performance.now()`; undefined: the command has not ended. */
  #endedAt: number | undefined;
  #waitsForListener = true;
  #stopFlush = (): void => {};
  #stopQuiet = (): void => {};

  /** @param complete Called, perhaps more than once, when the output may count as complete. */
  constructor(command: EngineCommand, events: CommandEvents, complete: () => void) {
    this.#command = command;
    this.#events = events;
    this.#complete = complete;
  }

  /** Reads the pipes of each output. */
  read(pipes: readonly (readonly Readable[])[]): void {
    const { separate, listen, pause, headBytes, tailBytes } = this.#command;
    const names: readonly StreamName[] = separate ? ['stdout', 'stderr'] : ['output'];
    const limits = { headBytes, tailBytes, listening: listen && { form: listen, pause } };
    this.#outputs = names.map((name, index) => new Output(name, pipes[index] ?? [], limits, this));
    if (this.#command.spillAfterBytes === undefined) this.#openSpill();
  }

  arriving(output: Output, chunk: Buffer): void {
    const { spillAfterBytes } = this.#command;
    if (this.#spill !== undefined) this.#spill.write(chunk);
    else if (
      spillAfterBytes !== undefined &&
      !output.capture.holds(chunk.length, spillAfterBytes)
    ) {
      const spill = this.#openSpill();
      // Writes all that was kept of each output, and then the chunk, so that the file has all bytes from
      // the first on.
      for (const each of this.#outputs) {
        spill?.write(each.capture.bytes());
        if (each === output) spill?.write(chunk);
      }
    }
  }

  changed(): void {
    this.#deliver();
    this.#regulate();
    this.#check();
  }

  /** Notes that the command has ended. */
  commandEnded(byItself: boolean): void {
    this.#endedAt = performance.now();
    // A caller that ends a command must not have to wait for its listener.
    if (byItself) this.#check();
    else this.detach();
  }

  /** Stops waiting for the listener, since a caller ends the command while its output is drained. */
  waitForNobody(): void {
    if (this.#outputs.some(({ isFull }) => isFull)) this.detach();
    else this.#complete();
  }

  wantMore(): void {
    for (const output of this.#outputs) output.wantMore();
    this.changed();
  }

  detach(): void {
    for (const output of this.#outputs) output.detach();
    this.#waitsForListener = false;
    this.changed();
  }

  snapshot(): readonly Capture[] {
    return this.#captures ?? this.#outputs.map(({ capture }) => capture.snapshot());
  }

  /** Ends the outputs; later output is dropped. */
  async close(): Promise<Kept> {
    this.#stopFlush();
    this.#stopQuiet();
    const ends = this.#outputs.map((output) => ({ ...output.finish(), stream: output.stream }));
    const captures = ends.map(({ capture }) => capture);
    this.#captures = captures;
    this.#rest = ends.map(({ stream, chunks }) => [stream, chunks] as const);
    return { captures, spill: await this.#spill?.finish() };
  }

  deliverRest(): void {
    for (const [stream, chunks] of this.#rest) this.#tell(stream, chunks);
  }

  #openSpill(): Spill | undefined {
    const { spillPath } = this.#command;
    if (spillPath === undefined) return undefined;
    this.#spill = new Spill(spillPath, this.#command, () => this.#regulate());
    return this.#spill;
  }

  #deliver(): void {
    this.#stopFlush();
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const output of this.#outputs) {
      const { chunks, at = Number.POSITIVE_INFINITY } = output.due(now);
      next = Math.min(next, at);
      this.#tell(output.stream, chunks);
    }
    if (next < Number.POSITIVE_INFINITY) {
      this.#stopFlush = startTimer(next - now, () => this.changed());
    }
  }

  #tell(stream: StreamName, chunks: readonly EngineChunk[]): void {
    if (chunks.length > 0) this.#events.output?.(stream, chunks);
  }

  #regulate(): void {
    const isDiskBehind = this.#spill?.isFull ?? false;
    for (const output of this.#outputs) output.flow(!isDiskBehind && !output.isFull);
  }

  /** Checks whether the output of a command that has ended may count as complete. */
  #check(): void {
    this.#stopQuiet();
    if (this.#endedAt === undefined) return;
    if (this.#outputs.every(({ hasEnded }) => hasEnded)) {
      this.#complete();
      return;
    }
    const now = performance.now();
    const isPaused = this.#spill?.isFull || this.#outputs.some(({ isFull }) => isFull);
    const last = Math.max(this.#endedAt, ...this.#outputs.map(({ lastDataAt }) => lastDataAt));
    const due = Math.min(this.#endedAt + WINDOW_MS, last + QUIET_MS);
    // Output that the listener or the disk has not taken yet is not late.
    if (isPaused && this.#waitsForListener) this.#lookAgain(QUIET_MS);
    else if (due > now) this.#lookAgain(due - now);
    else this.#complete();
  }

  #lookAgain(ms: number): void {
    this.#stopQuiet = startTimer(ms, () => this.#check());
  }
}
