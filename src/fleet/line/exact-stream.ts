import type { Packet } from './packet.js';

/** Bytes that are on their way at most; the writer waits with the rest. */
export const IN_FLIGHT = 4 * 1024 * 1024;

/** Bytes that are acknowledged at once; fewer wait for another message. */
const ACKNOWLEDGED = 256 * 1024;

/** Callbacks of a stream. */
interface ExactEvents {
  send(packet: Packet): void;
  deliver(bytes: Uint8Array): void;
  /** The stream can take more bytes. */
  writable(): void;
  /** A packet has come that is to be acknowledged soon, unless another packet does so meanwhile. */
  acknowledgeSoon(): void;
}

/**
 * An exact stream of bytes over messages of which some are lost, come twice or in another order. Each
 * message has a number; a message that is not acknowledged is kept, and sent again.
 */
export class ExactStream {
  readonly #events: ExactEvents;
  readonly #maxPayload: number;
  /** Packets that were sent and not acknowledged, oldest first. */
  readonly #unacknowledged: { readonly seq: number; readonly payload: Uint8Array }[] = [];
  #inFlight = 0;
  #nextSeq = 1;
  /** Packets that have come before a missing one, by number. */
  readonly #early = new Map<number, Uint8Array>();
  #expected = 1;
  #sinceAck = 0;
  #isFull = false;
  /** The oldest packet at the time when all were last sent again. */
  #sentAgain: number | undefined;

  /**
   * Makes a stream.
   *
   * @param maxPayload Bytes that one message carries.
   */
  constructor(maxPayload: number, events: ExactEvents) {
    this.#maxPayload = maxPayload;
    this.#events = events;
  }

  /** Whether some packet has not been acknowledged. */
  get isWaiting(): boolean {
    return this.#unacknowledged.length > 0;
  }

  /** The number of the oldest packet that has not been acknowledged. */
  get oldest(): number | undefined {
    return this.#unacknowledged[0]?.seq;
  }

  /** Sends bytes. Returns false if no more are to be sent until `writable` is called. */
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
    // Once for each missing packet: packets that were sent again may well be on their way already.
    if (wantsAgain && this.oldest !== this.#sentAgain) this.sendAgain();
    if (kind !== 'data') return;
    if (seq < this.#expected) {
      // The packet was acknowledged before, and the acknowledgement was lost.
      this.#events.acknowledgeSoon();
      return;
    }
    if (seq > this.#expected) {
      const isNew = !this.#early.has(seq);
      // An honest sender has no more on the way; packets beyond that are not kept.
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

  /** Sends all unacknowledged packets again: they may have been lost. */
  sendAgain(): void {
    this.#sentAgain = this.oldest;
    for (const { seq, payload } of this.#unacknowledged) this.#send(seq, payload);
  }

  /**
   * Acknowledges what has come.
   *
   * @param wantsAgain Also tells that a packet before it is missing.
   */
  acknowledge(wantsAgain = false): void {
    this.#events.send(this.#packet('beat', 0, new Uint8Array(), wantsAgain));
  }

  /** Tells the other side that nothing more comes. */
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
    // Each packet acknowledges as well.
    this.#sinceAck = 0;
    return { kind, seq, ack: this.#expected, wantsAgain, payload };
  }
}
