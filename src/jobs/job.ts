/** How a job stands. */
export type JobState = 'running' | 'completed' | 'failed' | 'cancelled';

/** How a job has ended. */
export interface JobEnd {
  readonly state: Exclude<JobState, 'running'>;
  /** The answer that its call would have got: output and notices, bounded as the tool's. */
  readonly text: string;
}

/** What goes on in the background. */
export interface JobWork {
  /** What it is, on one line. */
  readonly label: string;
  /** Settles when it is over; never rejects. */
  readonly ended: Promise<JobEnd>;
  /** The last of what it has printed so far. */
  readonly tail: () => string;
  /** Ends it. */
  readonly cancel: () => void;
}

/** How a job stands, for a runtime. */
export interface JobStatus {
  /** `bg_1`, `bg_2`, … */
  readonly id: string;
  readonly type: 'bash';
  readonly state: JobState;
  readonly label: string;
  /** Time since it began, until now or its end, in milliseconds. */
  readonly durationMs: number;
}

/** A command in the background. */
export class Job {
  readonly id: string;
  readonly label: string;
  /** Undefined once it is over: what it has kept of its output is let go. */
  #work: JobWork | undefined;
  #ended: Promise<JobEnd>;
  readonly #startedAt: number;
  #over: { readonly end: JobEnd; readonly at: number } | undefined;
  #delivered = false;
  #waiting = 0;

  /** @param startedAt By the clock of `performance.now()`. */
  constructor(id: string, work: JobWork, startedAt: number) {
    this.id = id;
    this.label = work.label;
    this.#work = work;
    this.#startedAt = startedAt;
    this.#ended = work.ended.then((end) => {
      this.#over = { end, at: performance.now() };
      this.#work = undefined;
      return end;
    });
  }

  /** Settles when it is over, with how it ended: see `end`. Never rejects. */
  get ended(): Promise<JobEnd> {
    return this.#ended;
  }

  /** Undefined while it runs; without its text once that has been delivered. */
  get end(): JobEnd | undefined {
    return this.#over?.end;
  }

  /** Whether its end is there and nobody has been told. */
  get hasNews(): boolean {
    return this.#over !== undefined && !this.#delivered;
  }

  /** Whether somebody waits for its end, and will take it. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  status(): JobStatus {
    const durationMs = (this.#over?.at ?? performance.now()) - this.#startedAt;
    const state = this.#over?.end.state ?? 'running';
    return { id: this.id, type: 'bash', state, label: this.label, durationMs };
  }

  /** The last of what it has printed so far; empty once it is over. */
  tail(): string {
    return this.#work?.tail() ?? '';
  }

  cancel(): void {
    this.#work?.cancel();
  }

  /** Its end, for the first who asks; undefined while it runs, and for those who come later. */
  take(): JobEnd | undefined {
    if (this.#over === undefined || this.#delivered) return undefined;
    this.#delivered = true;
    const { end, at } = this.#over;
    const delivered = { state: end.state, text: '' };
    this.#over = { end: delivered, at };
    this.#ended = Promise.resolve(delivered);
    return end;
  }

  /** As long as `work` takes, its end is for whoever does it. */
  async whileAwaited<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
    }
  }
}
