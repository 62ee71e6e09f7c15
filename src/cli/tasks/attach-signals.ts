import type { DetachedSubject } from '../../index.js';

/** Signals by which the user leaves the task; the first is a key of the terminal, Ctrl-\. */
const LEAVING = ['SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

/** Passes Ctrl-C on to a task, and notices when the user leaves. */
export class AttachSignals {
  readonly #subject: DetachedSubject;
  #leave: () => void = () => {};
  #leftBy: NodeJS.Signals = 'SIGQUIT';
  /** Settles when the user leaves. */
  readonly left: Promise<void>;

  constructor(subject: DetachedSubject) {
    this.#subject = subject;
    this.left = new Promise((resolve) => (this.#leave = resolve));
    process.on('SIGINT', this.#onInterrupt);
    for (const name of LEAVING) process.on(name, this.#onLeaving);
  }

  /** The signal by which the user has left. */
  get leftBy(): NodeJS.Signals {
    return this.#leftBy;
  }

  /** Stops handling signals. */
  release(): void {
    process.off('SIGINT', this.#onInterrupt);
    for (const name of LEAVING) process.off(name, this.#onLeaving);
  }

  readonly #onInterrupt = (): void => void this.#subject.signal('SIGINT');

  readonly #onLeaving = (name: NodeJS.Signals): void => {
    this.#leftBy = name;
    this.#leave();
  };
}
