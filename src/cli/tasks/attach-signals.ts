import type { DetachedSubject } from '../../index.js';

/** With these the user leaves the task to itself; the first is a key of the terminal, Ctrl-\. */
const LEAVING = ['SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

/** Passes Ctrl-C on to a task, and knows when its user leaves. */
export class AttachSignals {
  readonly #subject: DetachedSubject;
  #leave: () => void = () => {};
  #leftBy: NodeJS.Signals = 'SIGQUIT';
  /** Resolves when the user leaves. */
  readonly left: Promise<void>;

  constructor(subject: DetachedSubject) {
    this.#subject = subject;
    this.left = new Promise((resolve) => (this.#leave = resolve));
    process.on('SIGINT', this.#onInterrupt);
    for (const name of LEAVING) process.on(name, this.#onLeaving);
  }

  /** By which signal. */
  get leftBy(): NodeJS.Signals {
    return this.#leftBy;
  }

  /** Gives the signals back. */
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
