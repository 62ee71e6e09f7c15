import { messageOf } from '../../support/errors.js';
import { Assembly, parse } from './assembly.js';
import { Call, type CallLine } from './call.js';
import { subjectOf } from './check.js';
import {
  encodeFrame,
  FRAME,
  type Frame,
  type FrameKind,
  FrameParser,
  ProtocolFault,
} from './frames.js';
import { WINDOW } from './lane.js';
import type { Link } from './link.js';
import type { WireEvents, WireLimits } from './wire-events.js';

/**
 * Bytes beyond the window that a client takes: at the end of a call a far side sends all that waits,
 * which is some two windows.
 */
const AT_THE_END = 8 * WINDOW;
const FLOOD = 'more bytes were sent than the window allows';

/** Bytes of frames that are written in one piece. */
const BATCH = 128 * 1024;

/** Calls over one line, taking turns. */
export class Wire implements CallLine {
  readonly #link: Link;
  readonly #events: WireEvents;
  readonly #parser = new FrameParser();
  readonly #calls = new Map<number, Call>();
  /** Calls with something to send, in the order of their turns. */
  readonly #ready = new Set<Call>();
  readonly #urgent: Frame[] = [];
  readonly #assembly: Assembly;
  #isWritable = true;
  #isPumping = false;
  #isClosed = false;
  #lastId = 0;
  #held = 0;
  #settled: () => void = () => {};

  constructor(link: Link, events: WireEvents, limits: WireLimits) {
    this.#link = link;
    this.#events = events;
    this.#assembly = new Assembly(limits.maxBytes);
    link.start({
      bytes: (chunk) => this.#receive(chunk),
      writable: () => {
        this.#isWritable = true;
        this.#pump();
      },
      closed: (reason) => this.#close(reason),
    });
  }

  get isFar(): boolean {
    return this.#events.opened !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The number of calls under way. */
  get size(): number {
    return this.#calls.size;
  }

  /** Whether calls are under way that keep the process alive. */
  get isBusy(): boolean {
    return this.#held > 0;
  }

  /** Tells the other side who this side is. */
  hello(body: unknown): void {
    this.#say(FRAME.hello, body);
  }

  /** Sends a notice about the line. */
  notice(body: unknown): void {
    this.#say(FRAME.notice, body);
  }

  /** Begins a call. The line must be open. */
  open(body: unknown, events: Call['events']): Call {
    this.#lastId += 1;
    const call = new Call(this.#lastId, this);
    call.events = events;
    call.subject = subjectOf(body);
    this.#calls.set(call.id, call);
    this.held(1);
    call.begin(body);
    return call;
  }

  /** Cancels all calls. Settles when they are over. */
  async settle(): Promise<void> {
    for (const call of [...this.#calls.values()]) {
      call.hold(true);
      call.cancel();
    }
    if (this.#calls.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#settled = resolve;
    });
  }

  /** Closes the line once all that waits has been sent. */
  end(): void {
    this.#pump();
    this.#link.end();
  }

  /** Closes the line at once. */
  destroy(reason: string): void {
    this.#close(reason);
    this.#link.destroy();
  }

  ready(call: Call): void {
    this.#ready.add(call);
    this.#pumpSoon();
  }

  urgent(frame: Frame): void {
    this.#urgent.push(frame);
    this.#pumpSoon();
  }

  closed(call: Call): void {
    this.#calls.delete(call.id);
    this.#ready.delete(call);
    this.#assembly.forget(call.id);
    if (call.isHeld) this.held(-1);
    if (this.#calls.size === 0) this.#settled();
    this.#events.idle?.();
  }

  held(change: 1 | -1): void {
    this.#held += change;
    this.#link.hold(this.#held > 0);
  }

  #say(kind: typeof FRAME.hello | typeof FRAME.notice, body: unknown): void {
    const payload = Buffer.from(JSON.stringify(body));
    this.urgent({ kind, more: false, call: 0, payload });
  }

  /** Sends what was said in one turn in one piece. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#isWritable && !this.#isClosed) {
      const batch = this.#batch();
      if (batch.length === 0) return;
      this.#isWritable = this.#link.write(batch.length === 1 ? first(batch) : Buffer.concat(batch));
    }
  }

  #batch(): Buffer[] {
    const batch: Buffer[] = [];
    let size = 0;
    // Urgent frames are about calls that were begun before, and must not overtake the beginning.
    for (const call of this.#ready) {
      if (!call.isUnsent || size >= BATCH) continue;
      const frame = call.next();
      if (frame !== undefined) batch.push(encodeFrame(frame));
      size += frame?.payload.length ?? 0;
      if (!call.canSend) this.#ready.delete(call);
    }
    batch.push(...this.#urgent.splice(0).map(encodeFrame));
    for (const call of this.#ready) {
      this.#ready.delete(call);
      const frame = call.next();
      if (frame !== undefined) {
        batch.push(encodeFrame(frame));
        size += frame.payload.length;
        // The call has its next turn after all others.
        if (call.canSend) this.#ready.add(call);
        else if (call.waiting === 0) call.events.room?.();
      }
      if (size >= BATCH) break;
    }
    // Grants that were made meanwhile.
    batch.push(...this.#urgent.splice(0).map(encodeFrame));
    return batch;
  }

  #receive(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    try {
      for (const frame of this.#parser.push(chunk)) {
        if (this.#isClosed) return;
        this.#take(frame);
      }
    } catch (error) {
      // After a frame that is not understood, the rest would be misread.
      this.destroy(`the other side can't be understood: ${messageOf(error)}`);
    }
  }

  #take(frame: Frame): void {
    const { kind, payload } = frame;
    if (frame.call === 0) {
      this.#takeOfLine(kind, payload);
      return;
    }
    const call = this.#calls.get(frame.call) ?? this.#begin(frame);
    if (call === undefined) return;
    const mostOver = this.isFar ? 0 : AT_THE_END;
    switch (kind) {
      case FRAME.credit:
        call.credited(payload);
        return;
      case FRAME.cancel:
        if (this.#assembly.has(call.id)) this.#abandon(call);
        else this.#tell(call, kind, parse(payload));
        return;
    }
    if (kind === FRAME.data) {
      if (call.received(payload.length) > mostOver) throw new ProtocolFault(FLOOD);
      if (call.events.data === undefined) call.consumed(payload.length);
      else call.events.data(payload);
      return;
    }
    if (kind === FRAME.message && call.receivedMessage(payload.length) > mostOver) {
      throw new ProtocolFault(FLOOD);
    }
    this.#assemble(call, frame);
  }

  #takeOfLine(kind: FrameKind, payload: Uint8Array): void {
    if (kind !== FRAME.hello && kind !== FRAME.notice) {
      throw new ProtocolFault(`a frame of kind ${kind} belongs to no call`);
    }
    const body = parse(payload);
    if (this.#events.check?.(kind, undefined, body) === false) return;
    if (kind === FRAME.hello) this.#events.hello(body);
    else this.#events.notice?.(body);
  }

  /** Adds a call that a client begins; `undefined`: the call is over. */
  #begin({ kind, call: id }: Frame): Call | undefined {
    if (kind !== FRAME.open || this.#events.opened === undefined) return undefined;
    if (id <= this.#lastId) throw new ProtocolFault(`the number of call ${id} was used before`);
    this.#lastId = id;
    const call = new Call(id, this);
    this.#calls.set(id, call);
    this.held(1);
    return call;
  }

  #assemble(call: Call, frame: Frame): void {
    const message = this.#assembly.take(frame);
    if (message === undefined) return;
    const { body, refused } = message;
    if (frame.kind === FRAME.open) this.#events.opened?.(call, body, refused);
    else this.#tell(call, frame.kind, body);
  }

  #tell(call: Call, kind: FrameKind, body: unknown): void {
    if (this.#events.check?.(kind, call, body) === false) return;
    if (kind === FRAME.end) call.answered(body);
    else if (kind === FRAME.cancel) call.events.cancelled?.(body);
    else call.events.message?.(body);
  }

  /** Answers a call that was cancelled before its body was complete. */
  #abandon(call: Call): void {
    this.#assembly.forget(call.id);
    call.finish({ neverStarted: true });
  }

  #close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#link.hold(false);
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#ready.clear();
    this.#assembly.clear();
    for (const call of calls) call.lost(reason);
    this.#settled();
    this.#events.closed(reason);
  }
}

function first(batch: readonly Buffer[]): Buffer {
  return batch[0] ?? Buffer.alloc(0);
}
