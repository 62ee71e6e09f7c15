const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ends a server when this process is told to end. */
export class Termination {
  readonly #controller = new AbortController();
  #endedBy: NodeJS.Signals | undefined;

  constructor() {
    // Once: a second Ctrl-C ends this process at once, and the engine ends its commands.
    for (const name of SIGNALS) process.once(name, this.#onSignal);
  }

  /** Aborted when the server should end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The signal that has caused the end, if there was one. */
  get endedBy(): NodeJS.Signals | undefined {
    return this.#endedBy;
  }

  /** Stops handling signals. */
  release(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal);
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    this.#endedBy ??= name;
    this.#controller.abort();
  };
}
