import { settlesWithin, startTimer } from '../support/timing.js';

/** Least time between two frames, in milliseconds. */
const FRAME_MS = 33;

/** How long the end of a command waits for what draws it, in milliseconds. */
const PATIENCE_MS = 1000;

/** Draws now and then, never two frames at once, and the last one surely. */
export class FrameClock {
  readonly #draw: () => Promise<void>;
  /** Takes the next frame back; undefined: none is to come. */
  #stopTimer: (() => void) | undefined;
  #drawing: Promise<void> | undefined;
  #due = false;
  #stopped = false;
  #last = Number.NEGATIVE_INFINITY;

  /** @param draw Must not throw. */
  constructor(draw: () => Promise<void>) {
    this.#draw = draw;
  }

  /** There is something new. */
  tick(): void {
    this.#due = true;
    if (this.#stopped || this.#drawing !== undefined || this.#stopTimer !== undefined) return;
    const wait = Math.max(0, this.#last + FRAME_MS - performance.now());
    this.#stopTimer = startTimer(wait, () => void this.#frame(), 'keepsAlive');
  }

  /** Draws what is due, if that does not take too long; nothing is drawn after that. */
  async finish(): Promise<void> {
    const stopped = this.#stopped;
    this.stop();
    const drawn = await settlesWithin(this.#drawing, PATIENCE_MS, 'keepsAlive');
    if (this.#due && drawn && !stopped)
      await settlesWithin(this.#draw(), PATIENCE_MS, 'keepsAlive');
  }

  /** Nothing is drawn from now on. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer?.();
  }

  async #frame(): Promise<void> {
    this.#stopTimer = undefined;
    this.#due = false;
    this.#last = performance.now();
    this.#drawing = this.#draw();
    await this.#drawing;
    this.#drawing = undefined;
    if (this.#due) this.tick();
  }
}
