/** Least time between two frames, in milliseconds. */
const FRAME_MS = 33;

/** Draws now and then, never two frames at once, and the last one surely. */
export class FrameClock {
  readonly #draw: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
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
    if (this.#stopped || this.#drawing !== undefined || this.#timer !== undefined) return;
    const wait = Math.max(0, this.#last + FRAME_MS - performance.now());
    this.#timer = setTimeout(() => void this.#frame(), wait);
  }

  /** Draws what is due; nothing is drawn after that. */
  async finish(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#drawing;
    clearTimeout(this.#timer);
    if (this.#due && !this.#stopped) await this.#draw();
    this.#stopped = true;
  }

  /** Nothing is drawn from now on. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #frame(): Promise<void> {
    this.#timer = undefined;
    this.#due = false;
    this.#last = performance.now();
    this.#drawing = this.#draw();
    await this.#drawing;
    this.#drawing = undefined;
    if (this.#due) this.tick();
  }
}
