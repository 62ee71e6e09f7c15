import type { Packet } from './packet.js';

/** Bytes that are on their way, at most: what is over that waits with whoever writes. */
export const IN_FLIGHT = 4 * 1024 * 1024;

/** So much comes before it is acknowledged at once; less waits for company. */
const ACKNOWLEDGED = 256 * 1024;

/** What a stream does with what it makes. */
interface ExactEvents {
  send(packet: Packet): void;
  deliver(bytes: Uint8Array): void;
  /** There is room again. */
  writable(): void;
  /** Something came that is to be acknowledged soon, if nothing else goes there meanwhile. */
  acknowledgeSoon(): void;
}

/**
 * A stream of bytes over messages of which some are lost, come twice or in another order: on the other
 * side it is exact. Each message has a number; what is not acknowledged is kept, and sent again.
 */
export class ExactStream {
  readonly #events: ExactEvents;
  readonly #maxPayload: number;
  /** Sent and not acknowledged, oldest first. */
  readonly #unacknowledged: { readonly seq: number; readonly payload: Uint8Array }[] = [];
  #inFlight = 0;
  #nextSeq = 1;
  /** What has come ahead of what is missing, by number. */
  readonly #early = new Map<number, Uint8Array>();
  #expected = 1;
  #sinceAck = 0;
  #isFull = false;
  /** The oldest when all was last sent again. */
  #sentAgain: number | undefined;

  /** @param maxPayload Bytes that one message carries. */
  constructor(maxPayload: number, events: ExactEvents) {
    this.#maxPayload = maxPayload;
    this.#events = events;
  }

  /** Whether something has not been acknowledged. */
  get isWaiting(): boolean {
    return this.#unacknowledged.length > 0;
  }

  /** The oldest that has not been. */
  get oldest(): number | undefined {
    return this.#unacknowledged[0]?.seq;
  }

  /** Sends bytes; false: no more until `writable` is told. */
  write(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at += this.#maxPayload) {
      const payload = bytes.subarray(at, at + this.#maxPayload);
      const seq = this.#nextSeq;
      this.#nextSeq += 1;
      this.#unacknowledged.push({ seq, payload });
      this.#inFlight += payload.length;
      this.#send(seq, payload);
    }
    this.#isFull = this.#inFlight >= IN_FLIGHT;
    return !this.#isFull;
  }

  /** Takes a message of the other side. */
  receive({ kind, seq, ack, wantsAgain, payload }: Packet): void {
    this.#acknowledged(ack);
    // Once for each that is missing: what is sent again may well be on its way already.
    if (wantsAgain && this.oldest !== this.#sentAgain) this.sendAgain();
    if (kind !== 'data') return;
    if (seq < this.#expected) {
      // It was acknowledged already, which must have been lost.
      this.#events.acknowledgeSoon();
      return;
    }
    if (seq > this.#expected) {
      const isNew = !this.#early.has(seq);
      // Nobody has more on the way; who says so is not to be kept.
      if (this.#early.size * this.#maxPayload < 2 * IN_FLIGHT) this.#early.set(seq, payload);
      if (isNew && this.#early.size === 1) this.acknowledge(true);
      return;
    }
    this.#take(payload);
    for (let next = this.#early.get(this.#expected); next; next = this.#early.get(this.#expected)) {
      this.#early.delete(this.#expected);
      this.#take(next);
    }
    if (this.#sinceAck >= ACKNOWLEDGED) this.acknowledge();
    else this.#events.acknowledgeSoon();
  }

  /** Sends once more what was not acknowledged: it may not have come. */
  sendAgain(): void {
    this.#sentAgain = this.oldest;
    for (const { seq, payload } of this.#unacknowledged) this.#send(seq, payload);
  }

  /** Says what has come. @param wantsAgain And that something before it has not. */
  acknowledge(wantsAgain = false): void {
    this.#events.send(this.#packet('beat', 0, new Uint8Array(), wantsAgain));
  }

  /** Says that nothing more comes. */
  bye(): void {
    this.#events.send(this.#packet('bye', 0, new Uint8Array(), false));
  }

  #take(payload: Uint8Array): void {
    this.#expected += 1;
    this.#sinceAck += payload.length;
    this.#events.deliver(payload);
  }

  #acknowledged(ack: number): void {
    let count = 0;
    for (const { seq, payload } of this.#unacknowledged) {
      if (seq >= ack) break;
      count += 1;
      this.#inFlight -= payload.length;
    }
    if (count === 0) return;
    this.#unacknowledged.splice(0, count);
    if (!this.#isFull || this.#inFlight >= IN_FLIGHT / 2) return;
    this.#isFull = false;
    this.#events.writable();
  }

  #send(seq: number, payload: Uint8Array): void {
    this.#events.send(this.#packet('data', seq, payload, false));
  }

  #packet(kind: Packet['kind'], seq: number, payload: Uint8Array, wantsAgain: boolean): Packet {
    // Whatever goes there acknowledges as well.
    this.#sinceAck = 0;
    return { kind, seq, ack: this.#expected, wantsAgain, payload };
  }
}
