import { FRAME, type Frame, type FrameKind } from './frames.js';
import { Lane, SENT_PAYLOAD } from './lane.js';
import type { Subject } from './messages.js';

/** Who is told what happens to a call. */
export interface CallEvents {
  /** A message about it. */
  message?(body: unknown): void;
  /** Bytes; `consumed()` is to be called for them. None: the other side has no more. */
  data?(bytes: Uint8Array): void;
  /** All that was to be sent has been. */
  room?(): void;
  /** The client wants it to end. */
  cancelled?(body: unknown): void;
  /** It was answered; `undefined`: cancelled before it had been sent. */
  ended?(body: unknown): void;
  /** The line was closed before that. */
  lost(reason: string): void;
}

/** What a call needs of the line that it is on. */
export interface CallLine {
  /** Whether others begin calls, who may be anybody. */
  readonly isFar: boolean;
  /** It has something to send. */
  ready(call: Call): void;
  /** Goes before what waits. */
  urgent(frame: Frame): void;
  /** It is over. */
  closed(call: Call): void;
  /** So many calls more, or fewer, keep the process alive. */
  held(change: 1 | -1): void;
}

/** One call on a line: messages and bytes both ways, as fast as the slower side takes them. */
export class Call {
  readonly id: number;
  events: CallEvents = { lost: () => {} };
  /** What it is about, once that is known: by this its messages are checked. */
  subject: Subject | undefined;
  readonly #line: CallLine;
  readonly #messages = new Lane(true);
  readonly #bytes = new Lane(false);
  /** How it begins and ends goes by no window: there is one of each. */
  #open: { readonly bytes: Uint8Array; at: number } | undefined;
  #end: { readonly bytes: Uint8Array; at: number } | undefined;
  #isHeld = true;
  #isOver = false;

  constructor(id: number, line: CallLine) {
    this.id = id;
    this.#line = line;
  }

  /** Whether the other side has not heard of it. */
  get isUnsent(): boolean {
    return this.#open?.at === 0;
  }

  /** Bytes that wait to be sent. */
  get waiting(): number {
    return this.#messages.waiting + this.#bytes.waiting;
  }

  /** Whether the process stays alive for it. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  hold(holds: boolean): void {
    if (holds === this.#isHeld || this.#isOver) return;
    this.#isHeld = holds;
    this.#line.held(holds ? 1 : -1);
  }

  /** Whether nothing more comes of it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins it. */
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

  /** Sends bytes; those that fit into a frame arrive in one piece. */
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

  /** Answers it, after all that waits; nothing can be sent after that. */
  finish(body: unknown): void {
    if (this.#isOver) return;
    this.#end = { bytes: bytesOf(body), at: 0 };
    this.#isOver = true;
    // What waits is bounded, and nobody may ever take it: the answer must not wait for that.
    this.#messages.credited(Number.MAX_SAFE_INTEGER);
    this.#bytes.credited(Number.MAX_SAFE_INTEGER);
    this.#line.ready(this);
  }

  /** Asks the far side to end it, before whatever else waits; what was not sent is not sent any more. */
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

  /** Bytes that came have been taken. */
  consumed(bytes: number): void {
    this.#grant(this.#bytes, bytes);
  }

  /** For the line: the next frame that can be sent now. */
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

  /** For the line: whether something waits that could be sent. */
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

  /** For the line: bytes have come; false: more than were granted. */
  received(bytes: number): boolean {
    return this.#bytes.received(bytes);
  }

  /** For the line: a part of a message has come, and was taken; false: more than was granted. */
  receivedMessage(bytes: number): boolean {
    const isGranted = this.#messages.received(bytes);
    this.#grant(this.#messages, bytes);
    return isGranted;
  }

  /** For the line: it was answered. */
  answered(body: unknown): void {
    this.#conclude();
    this.events.ended?.(body);
  }

  /** For the line, which is closed. */
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
