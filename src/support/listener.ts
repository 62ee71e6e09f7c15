import { callOut, describeThrown } from './errors.js';
import { warnHost } from './logger.js';

/**
 * A caller's listener that can do no harm: if it throws, a process warning tells so, and it is not
 * called again. Neither the command nor the host should fail because a display did.
 *
 * @param name How the caller knows it, such as `onUpdate`.
 */
export class Listener<T> {
  readonly #name: string;
  #listener: ((value: T) => void) | undefined;
  #warned = false;

  constructor(name: string, listener: ((value: T) => void) | undefined) {
    this.#name = name;
    this.#listener = listener;
  }

  /** Whether anybody listens. */
  get isPresent(): boolean {
    return this.#listener !== undefined;
  }

  tell(value: T): void {
    const listener = this.#listener;
    if (listener !== undefined) {
      callOut(
        () => listener(value),
        (error) => this.#failed(error),
      );
    }
  }

  /** From here on it hears nothing. */
  stop(): void {
    this.#listener = undefined;
  }

  /** Rejections may come late, and several of them. */
  #failed(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#listener = undefined;
    warnHost(`${this.#name} threw, it is not called again: ${describeThrown(error)}`);
  }
}
