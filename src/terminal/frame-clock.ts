/** Least time between two frames, in milliseconds. */
const FRAME_MS = 33;

/** How long the end of a command waits for what draws it, in milliseconds. */
const PATIENCE_MS = 1000;

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

  /** Draws what is due, if that does not take too long; nothing is drawn after that. */
  async finish(): Promise<void> {
    const stopped = this.#stopped;
    this.stop();
    const drawn = await settlesWithin(PATIENCE_MS, this.#drawing);
    if (this.#due && drawn && !stopped) await settlesWithin(PATIENCE_MS, this.#draw());
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

/** Waits for work that may never settle; whether it has. */
export async function settlesWithin(ms: number, work: unknown): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
