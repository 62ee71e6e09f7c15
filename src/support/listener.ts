/**
 * Calls what is a caller's. If it throws, or returns a promise that is rejected, `failed` is told:
 * a rejection that nobody handles would end the host.
 */
export function callOut(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const returned = call();
    if (returned instanceof Promise) returned.catch(failed);
  } catch (error) {
    failed(error);
  }
}

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
    process.emitWarning(`${this.#name} threw, it is not called again: ${String(error)}`);
  }
}
