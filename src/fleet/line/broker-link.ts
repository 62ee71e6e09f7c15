import type { Link } from '../../remote/for-fleet.js';
import { startTimer } from '../../support/timing.js';
import type { Broker } from './broker.js';
import { ExactStream } from './exact-stream.js';
import { decodePacket, encodePacket, PACKET_HEADER } from './packet.js';

/** Bytes of one message at most, so that calls take turns; fewer if the broker takes fewer. */
const MOST_PAYLOAD = 128 * 1024;

/**
 * The time for which an acknowledgement waits for another message to the same side, in milliseconds.
 */
const COMPANY_MS = 20;

/** The interval at which unacknowledged messages are looked for, in milliseconds. */
const CHECK_MS = 1000;

/** Limits for the silence of a line. */
export interface Lease {
  /**
   * The time in milliseconds. While the broker reports that the other side is gone, a quarter of it.
   */
  readonly leaseMs: number;
}

/**
 * A line over a broker: exact to the byte, whatever happens to the broker and the two connections to
 * it, until nothing was heard for the time of the lease.
 */
export class BrokerLink implements Link {
  readonly #broker: Broker;
  readonly #subject: string;
  readonly #leaseMs: number;
  readonly #stream: ExactStream;
  readonly #closing: () => void;
  #events: Parameters<Link['start']>[0] | undefined;
  /** Bytes that came before the line was started. */
  #early: Uint8Array[] = [];
  #heardAt = performance.now();
  /** The time at which the next beat is due. */
  #beatAt: number;
  /** The time since which the broker has reported that the other side is gone. */
  #absentSince: number | undefined;
  #checked: number | undefined;
  #stops: (() => void)[] = [];
  #stopCompany: (() => void) | undefined;
  #isClosed = false;

  /**
   * Makes a line.
   *
   * @param subject The subject on which the other side listens.
   * @param closing Called once, when either side has closed the line.
   */
  constructor(broker: Broker, subject: string, { leaseMs }: Lease, closing: () => void) {
    this.#broker = broker;
    this.#subject = subject;
    this.#leaseMs = leaseMs;
    this.#closing = closing;
    const maxPayload = Math.min(MOST_PAYLOAD, broker.maxPayload - PACKET_HEADER);
    this.#stream = new ExactStream(maxPayload, {
      send: (packet) => {
        this.#stopCompany?.();
        this.#stopCompany = undefined;
        broker.publish(subject, encodePacket(packet));
      },
      deliver: (bytes) => {
        if (this.#events === undefined) this.#early.push(bytes);
        else this.#events.bytes(bytes);
      },
      writable: () => this.#events?.writable(),
      acknowledgeSoon: () => {
        this.#stopCompany ??= startTimer(COMPANY_MS, () => this.#stream.acknowledge());
      },
    });
    this.#beatAt = this.#heardAt + this.#beatMs;
    this.#every(this.#beatMs, () => this.#beat());
    this.#every(CHECK_MS, () => this.#check());
    this.#stops.push(broker.onReconnect(() => this.#again()));
  }

  start(events: Parameters<Link['start']>[0]): void {
    this.#events = events;
    for (const bytes of this.#early.splice(0)) events.bytes(bytes);
  }

  /** Takes a message for this line. */
  receive(bytes: Uint8Array): void {
    const packet = decodePacket(bytes);
    if (packet === undefined || this.#isClosed) return;
    this.#heard();
    this.#stream.receive(packet);
    if (packet.kind === 'bye') this.#close('the other side closed the line');
  }

  /** Answers the other side's question whether this side is still here. */
  asked(): void {
    this.#heard();
  }

  write(bytes: Uint8Array): boolean {
    return this.#isClosed || this.#stream.write(bytes);
  }

  end(): void {
    this.destroy();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.#stream.bye();
    this.#close('it was closed here');
  }

  /** A connection to a broker keeps the process alive by itself. */
  hold(): void {}

  /** The interval at which the other side is asked whether it is there. */
  get #beatMs(): number {
    return this.#leaseMs / 8;
  }

  #heard(): void {
    this.#heardAt = performance.now();
    this.#absentSince = undefined;
  }

  /** Asks whether the other side is there; the broker reports at once when it is not. */
  #beat(): void {
    const now = performance.now();
    this.#forgiveLateness(now);
    const silentMs = now - this.#heardAt;
    if (silentMs >= this.#leaseMs) {
      this.#close(`nothing was heard for ${Math.round(silentMs / 1000)} seconds`);
      return;
    }
    void this.#probe();
  }

  /**
   * Takes the time by which this beat is late for no silence of the other side: a process that was stopped, or whose
   * thread was busy, has not read yet what came meanwhile, since its timers come first.
   */
  #forgiveLateness(now: number): void {
    const lateMs = Math.max(0, now - this.#beatAt);
    this.#beatAt = now + this.#beatMs;
    this.#heardAt = Math.min(now, this.#heardAt + lateMs);
    if (this.#absentSince !== undefined) this.#absentSince += lateMs;
  }

  async #probe(): Promise<void> {
    const answer = await this.#broker.ask(this.#subject, new Uint8Array(), this.#leaseMs / 4);
    if (this.#isClosed) return;
    if (answer === 'nobody') this.#absent();
    else if (answer !== 'silence' && answer !== 'forbidden') {
      if (answer.length === 0) this.#heard();
      else this.#close('the other side knows nothing of it any more');
    }
  }

  /** Handles a report that the other side is gone: it may only be reconnecting to the broker. */
  #absent(): void {
    const now = performance.now();
    this.#absentSince ??= now;
    if (now - this.#absentSince >= this.#leaseMs / 4) {
      this.#close('its connection to the broker is gone');
    }
  }

  /** Sends again what was not acknowledged since the last look. */
  #check(): void {
    const { oldest } = this.#stream;
    if (oldest !== undefined && oldest === this.#checked) this.#stream.sendAgain();
    this.#checked = oldest;
  }

  /** Recovers after a reconnect: what either side has sent meanwhile is lost. */
  #again(): void {
    this.#stream.sendAgain();
    this.#stream.acknowledge(true);
  }

  #every(ms: number, then: () => void): void {
    let stop = (): void => {};
    const wait = (): void => {
      stop = startTimer(ms, () => {
        wait();
        then();
      });
    };
    wait();
    this.#stops.push(() => stop());
  }

  #close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stop of this.#stops.splice(0)) stop();
    this.#stopCompany?.();
    this.#closing();
    this.#events?.closed(reason);
    this.#events = undefined;
  }
}
