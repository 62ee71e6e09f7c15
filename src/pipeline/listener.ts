/**
 * A caller's listener that can do no harm: if it throws, a process warning tells so, and it is not
 * called again. Neither the command nor the host should fail because a display did.
 *
 * @param name How the caller knows it, such as `onUpdate`.
 */
export class Listener<T> {
  readonly #name: string;
  #listener: ((value: T) => void) | undefined;

  constructor(name: string, listener: ((value: T) => void) | undefined) {
    this.#name = name;
    this.#listener = listener;
  }

  /** Whether anybody listens. */
  get isPresent(): boolean {
    return this.#listener !== undefined;
  }

  tell(value: T): void {
    try {
      this.#listener?.(value);
    } catch (error) {
      this.#listener = undefined;
      process.emitWarning(`${this.#name} threw, it is not called again: ${String(error)}`);
    }
  }

  /** From here on it hears nothing. */
  stop(): void {
    this.#listener = undefined;
  }
}
