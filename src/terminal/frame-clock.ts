import { settlesWithin, startTimer } from '../support/timing.js';

/** Least time between two frames, in milliseconds. */
const FRAME_MS = 33;

/** How long the end of a command waits for a frame to be drawn, in milliseconds. */
const PATIENCE_MS = 1000;

/** Limits the rate of frames, never draws two at once, and always draws the last one. */
export class FrameClock {
  readonly #draw: () => Promise<void>;
  /** Cancels the next frame; undefined when none is planned. */
  #stopTimer: (() => void) | undefined;
  #drawing: Promise<void> | undefined;
  #due = false;
  #stopped = false;
  #last = Number.NEGATIVE_INFINITY;

  /** @param draw Must not throw. */
  constructor(draw: () => Promise<void>) {
    this.#draw = draw;
  }

  /** Plans a frame, since there is something new. */
  tick(): void {
    this.#due = true;
    if (this.#stopped || this.#drawing !== undefined || this.#stopTimer !== undefined) return;
    const wait = Math.max(0, this.#last + FRAME_MS - performance.now());
    this.#stopTimer = startTimer(wait, () => void this.#frame(), 'keepsAlive');
  }

  /** Draws a frame that is due, if that does not take too long, and stops. */
  async finish(): Promise<void> {
    const stopped = this.#stopped;
    this.stop();
    const drawn = await settlesWithin(this.#drawing, PATIENCE_MS, 'keepsAlive');
    if (this.#due && drawn && !stopped)
      await settlesWithin(this.#draw(), PATIENCE_MS, 'keepsAlive');
  }

  /** Stops drawing. */
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
