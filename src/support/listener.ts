import { callOut, describeThrown } from './errors.js';
import { warnHost } from './logger.js';

/**
 * A caller's listener that can do no harm: if it throws, a process warning reports it, and the listener
 * is not called again. Neither the command nor the host should fail because a display did.
 *
 * @param name The option's name that the caller knows, such as `onUpdate`.
 */
export class Listener<T> {
  readonly #name: string;
  #listener: ((value: T) => void) | undefined;
  #warned = false;

  constructor(name: string, listener: ((value: T) => void) | undefined) {
    this.#name = name;
    this.#listener = listener;
  }

  /** Returns whether a listener is registered. */
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

  /** Stops all further calls of the listener. */
  stop(): void {
    this.#listener = undefined;
  }

  /** Rejections may come late, and more than once. */
  #failed(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#listener = undefined;
    warnHost(`${this.#name} threw, it is not called again: ${describeThrown(error)}`);
  }
}
