import { FRAME, type Frame, type FrameKind } from './frames.js';
import { Lane, SENT_PAYLOAD } from './lane.js';
import type { Subject } from './messages.js';

/** Callbacks for the events of a call. */
export interface CallEvents {
  /** A message of the call has come. */
  message?(body: unknown): void;
  /** Bytes have come; call `consumed()` for them. No bytes: the other side has no more. */
  data?(bytes: Uint8Array): void;
  /** Everything queued has been sent. */
  room?(): void;
  /** The client wants the call to end. */
  cancelled?(body: unknown): void;
  /** The call was answered; `undefined`: it was cancelled before it had been sent. */
  ended?(body: unknown): void;
  /** The line was closed before the call was answered. */
  lost(reason: string): void;
}

/** The functions of a line that a call uses. */
export interface CallLine {
  /** Whether the other side begins the calls, and may be hostile. */
  readonly isFar: boolean;
  /** Tells that the call has something to send. */
  ready(call: Call): void;
  /** Sends a frame before all that waits. */
  urgent(frame: Frame): void;
  /** Tells that the call is over. */
  closed(call: Call): void;
  /** Changes the number of calls that keep the process alive. */
  held(change: 1 | -1): void;
}

/** One call on a line: messages and bytes both ways, as fast as the slower side takes them. */
export class Call {
  readonly id: number;
  events: CallEvents = { lost: () => {} };
  /** The kind of the call, once it is known: its messages are checked by it. */
  subject: Subject | undefined;
  readonly #line: CallLine;
  readonly #messages = new Lane(true);
  readonly #bytes = new Lane(false);
  /** The beginning and the end use no window: there is one of each. */
  #open: { readonly bytes: Uint8Array; at: number } | undefined;
  #end: { readonly bytes: Uint8Array; at: number } | undefined;
  #isHeld = true;
  #isOver = false;

  constructor(id: number, line: CallLine) {
    this.id = id;
    this.#line = line;
  }

  /** Whether the other side has not yet heard of the call. */
  get isUnsent(): boolean {
    return this.#open?.at === 0;
  }

  /** Bytes that wait to be sent. */
  get waiting(): number {
    return this.#messages.waiting + this.#bytes.waiting;
  }

  /** Whether the process stays alive for the call. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  hold(holds: boolean): void {
    if (holds === this.#isHeld || this.#isOver) return;
    this.#isHeld = holds;
    this.#line.held(holds ? 1 : -1);
  }

  /** Whether the call is over: nothing more comes of it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins the call. */
  begin(body: unknown): void {
    this.#open = { bytes: bytesOf(body), at: 0 };
    this.#line.ready(this);
  }

  /** Sends a message. */
  send(body: unknown): void {
    if (this.#isOver) return;
    this.#messages.put(bytesOf(body));
    this.#line.ready(this);
  }

  /** Sends bytes; a piece that fits into a frame arrives in one piece. */
  sendData(bytes: Uint8Array): void {
    if (this.#isOver) return;
    for (let at = 0; at < bytes.length; at += SENT_PAYLOAD) {
      this.#bytes.put(bytes.subarray(at, at + SENT_PAYLOAD));
    }
    this.#line.ready(this);
  }

  /** Says that no more bytes come. */
  endData(): void {
    if (this.#isOver) return;
    this.#bytes.put(new Uint8Array());
    this.#line.ready(this);
  }

  /** Answers the call, after all that waits; nothing can be sent after that. */
  finish(body: unknown): void {
    if (this.#isOver) return;
    this.#end = { bytes: bytesOf(body), at: 0 };
    this.#isOver = true;
    // The queue is bounded, and the other side may never read it: the answer must not wait for that.
    this.#messages.credited(Number.MAX_SAFE_INTEGER);
    this.#bytes.credited(Number.MAX_SAFE_INTEGER);
    this.#line.ready(this);
  }

  /** Asks the far side to end the call, ahead of all that waits; unsent messages are dropped. */
  cancel(body: unknown = {}): void {
    if (this.#isOver) return;
    const { isUnsent } = this;
    if (this.#open !== undefined) {
      this.#open = undefined;
      this.#messages.clear();
      this.#bytes.clear();
    }
    if (isUnsent) this.answered(undefined);
    else this.#urgent(FRAME.cancel, bytesOf(body));
  }

  /** Tells that received bytes have been taken. */
  consumed(bytes: number): void {
    this.#grant(this.#bytes, bytes);
  }

  /** For the line: returns the next frame that can be sent now. */
  next(): Frame | undefined {
    if (this.#open !== undefined) {
      const frame = this.#part(FRAME.open, this.#open);
      if (!frame.more) this.#open = undefined;
      return frame;
    }
    for (const [kind, lane] of this.#lanes) {
      const next = lane.next();
      if (next === undefined) continue;
      this.#grant(lane, 0);
      return { kind, more: next.more, call: this.id, payload: next.bytes };
    }
    if (this.#end === undefined) return undefined;
    const frame = this.#part(FRAME.end, this.#end);
    if (!frame.more) this.#conclude();
    return frame;
  }

  /** For the line: whether something can be sent now. */
  get canSend(): boolean {
    const begins = this.#open !== undefined || (this.#isOver && this.#end !== undefined);
    return begins || this.#messages.canSend || this.#bytes.canSend;
  }

  /** For the line: the other side can take more. */
  credited(payload: Uint8Array): void {
    const credit = Buffer.from(payload);
    const lane = credit.readUInt8(4) === FRAME.data ? this.#bytes : this.#messages;
    lane.credited(credit.readUInt32BE(0));
    if (this.canSend) this.#line.ready(this);
  }

  /** For the line: bytes have come. Returns how many were not granted. */
  received(bytes: number): number {
    return this.#bytes.received(bytes);
  }

  /** For the line: a part of a message has come, and was taken. Returns how many bytes were not granted. */
  receivedMessage(bytes: number): number {
    const over = this.#messages.received(bytes);
    this.#grant(this.#messages, bytes);
    return over;
  }

  /** For the line: the call was answered. */
  answered(body: unknown): void {
    this.#conclude();
    this.events.ended?.(body);
  }

  /** For the line: the line is closed. */
  lost(reason: string): void {
    this.#isOver = true;
    this.#end = this.#open = undefined;
    this.#messages.clear();
    this.#bytes.clear();
    this.events.lost(reason);
  }

  get #lanes(): readonly (readonly [FrameKind, Lane])[] {
    return [
      [FRAME.message, this.#messages],
      [FRAME.data, this.#bytes],
    ];
  }

  #part(kind: FrameKind, whole: { readonly bytes: Uint8Array; at: number }): Frame {
    const payload = whole.bytes.subarray(whole.at, whole.at + SENT_PAYLOAD);
    whole.at += payload.length;
    return { kind, more: whole.at < whole.bytes.length, call: this.id, payload };
  }

  #grant(lane: Lane, bytes: number): void {
    const granted = lane.consumed(bytes, this.#line.isFar);
    if (granted === undefined) return;
    const payload = Buffer.alloc(5);
    payload.writeUInt32BE(granted);
    payload.writeUInt8(lane === this.#bytes ? FRAME.data : FRAME.message, 4);
    this.#urgent(FRAME.credit, payload);
  }

  #urgent(kind: FrameKind, payload: Uint8Array): void {
    this.#line.urgent({ kind, more: false, call: this.id, payload });
  }

  #conclude(): void {
    this.#isOver = true;
    this.#end = undefined;
    this.#line.closed(this);
  }
}

function bytesOf(body: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(body) ?? 'null');
}
