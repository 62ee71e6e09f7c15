import { startTimer } from '../../support/timing.js';
import type { Link } from '../wire/link.js';
import type { Open } from '../wire/protocol.js';
import type { Wire } from '../wire/wire.js';

/**
 * What a far side of any version answers at once, and has no effect there: a question about a task of no
 * tool. The answer is an error.
 */
const SIGN_OF_LIFE: Open = { op: 'task', tool: 0, id: '' };
/** The number of looks within the longest silence. */
const LOOKS = 4;

/** Closes a line whose far side is silent while it has something to do. */
export class Pulse {
  readonly #silenceMs: number;
  #wire: Wire | undefined;
  #heardAt = performance.now();
  /** The time at which the next look is due. */
  #lookAt = 0;
  #isAsking = false;
  #stopTimer: () => void = () => {};

  /** @param silenceMs The longest silence, in milliseconds. */
  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** Returns the same line, which tells of all that it brings. */
  listening(link: Link): Link {
    return {
      start: (events) => {
        link.start({
          ...events,
          bytes: (chunk) => {
            this.#heardAt = performance.now();
            events.bytes(chunk);
          },
        });
      },
      write: (bytes) => link.write(bytes),
      end: () => link.end(),
      destroy: () => link.destroy(),
      hold: (holds) => link.hold(holds),
    };
  }

  /** Begins to look after the far side. */
  start(wire: Wire): void {
    this.#wire = wire;
    this.#wait();
  }

  stop(): void {
    this.#stopTimer();
    this.#wire = undefined;
  }

  #wait(): void {
    const ms = this.#silenceMs / LOOKS;
    this.#lookAt = performance.now() + ms;
    this.#stopTimer = startTimer(ms, () => this.#look());
  }

  #look(): void {
    const wire = this.#wire;
    if (wire === undefined) return;
    const now = performance.now();
    // A process that stood still has not read yet what came meanwhile: that is no silence.
    this.#heardAt = Math.min(now, this.#heardAt + Math.max(0, now - this.#lookAt));
    if (!wire.isBusy) this.#heardAt = now;
    const silentMs = now - this.#heardAt;
    if (silentMs >= this.#silenceMs) {
      wire.destroy(`nothing was heard for ${Math.round(silentMs / 1000)} seconds`);
      return;
    }
    this.#wait();
    if (silentMs >= this.#silenceMs / LOOKS / 2) this.#ask(wire);
  }

  #ask(wire: Wire): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const over = (): void => {
      this.#isAsking = false;
    };
    wire.open(SIGN_OF_LIFE, { ended: over, lost: over }).hold(false);
  }
}
