import type { Call, CallEvents } from '../wire/call.js';

/** Keeps what comes for a call until somebody is there for it. */
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

  /** Whether it was cancelled meanwhile, or its client has gone. */
  get isUnwanted(): boolean {
    return this.#isUnwanted;
  }

  /** Now somebody is. */
  passOn(events: CallEvents): void {
    for (const tell of this.#told.splice(0)) tell(events);
  }
}
