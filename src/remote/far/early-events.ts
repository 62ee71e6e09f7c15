import type { Call, CallEvents } from '../wire/call.js';

/** Keeps a call's events until their final receiver is there. */
export class EarlyEvents {
  readonly #told: ((events: CallEvents) => void)[] = [];
  #isUnwanted = false;

  constructor(call: Call) {
    const unwanted = (): void => {
      this.#isUnwanted = true;
    };
    call.events = {
      message: (body) => this.#told.push((events) => events.message?.(body)),
      data: (bytes) => this.#told.push((events) => events.data?.(bytes)),
      cancelled: unwanted,
      lost: unwanted,
    };
  }

  /** Whether the call was cancelled meanwhile, or the client has gone. */
  get isUnwanted(): boolean {
    return this.#isUnwanted;
  }

  /** Passes the kept events on to their receiver. */
  passOn(events: CallEvents): void {
    for (const tell of this.#told.splice(0)) tell(events);
  }
}
