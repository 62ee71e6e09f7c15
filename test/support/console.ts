import type {
  ConsoleEvents,
  ConsoleFrame,
  ConsoleOverlay,
  ConsoleRequest,
  TerminalUi,
} from '../../src/index.js';

export interface FakeOptions {
  readonly size?: ConsoleOverlay['size'];
  /** In place of noting the frame. */
  readonly draw?: () => void | Promise<void>;
}

/** A user interface for tests: what it shows can be waited for, and keys be given. */
export class FakeUi implements TerminalUi {
  readonly requests: ConsoleRequest[] = [];
  readonly frames: ConsoleFrame[] = [];
  closed = 0;
  readonly #options: FakeOptions;
  #events: ConsoleEvents | undefined;
  #waiting: (() => void)[] = [];

  constructor(options: FakeOptions = {}) {
    this.#options = options;
  }

  openConsole(request: ConsoleRequest, events: ConsoleEvents): ConsoleOverlay {
    this.requests.push(request);
    this.#events = events;
    this.#wake();
    const { size, draw } = this.#options;
    return {
      ...(size && { size }),
      draw: (frame) => {
        this.frames.push(frame);
        this.#wake();
        return draw?.();
      },
      close: () => {
        this.closed += 1;
      },
    };
  }

  /** The overlay's way to tell things. */
  get events(): ConsoleEvents {
    if (this.#events === undefined) throw new Error('no console has been opened');
    return this.#events;
  }

  /** The screen as text. */
  get screen(): string {
    const rows = this.frames.at(-1)?.rows ?? [];
    return rows
      .map((row) => row.map(({ text }) => text).join(''))
      .join('\n')
      .trimEnd();
  }

  /** Waits until the screen shows something. */
  async shows(text: string): Promise<void> {
    while (!this.screen.includes(text)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
