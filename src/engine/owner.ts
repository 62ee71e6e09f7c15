import { atLeast } from '../support/checks.js';
import { channel } from './channel.js';
import { engineName } from './choice.js';
import { disposePortable, newPortableOwner } from './portable/engine.js';

/** Time from SIGTERM to SIGKILL, in milliseconds, when an owner is disposed of. */
const DISPOSE_GRACE_MS = 5000;

/**
 * The owner of commands. When it is disposed of, the commands started for it are ended, with all
 * processes that they left running; at the latest they end with the host process or worker.
 */
export class Owner implements AsyncDisposable {
  #id: number | undefined;
  #disposed: Promise<void> | undefined;

  /** Its number in the engine, assigned when first needed: importing forkline starts no thread. */
  get id(): number {
    this.#id ??= engineName() === 'portable' ? newPortableOwner() : channel().native.owner();
    return this.#id;
  }

  /** Returns whether it was disposed of: commands started for it now are cancelled at once. */
  get isDisposed(): boolean {
    return this.#disposed !== undefined;
  }

  /**
   * Ends all its processes: SIGTERM, `graceMs` (default 5000), SIGKILL. Resolves when they are gone;
   * another call returns the same promise. Commands that still ran resolve as cancelled.
   *
   * @throws {InputError} `graceMs` is not a time in milliseconds; nothing was ended.
   */
  dispose(graceMs: number = DISPOSE_GRACE_MS): Promise<void> {
    try {
      atLeast('graceMs', 0, graceMs);
    } catch (error) {
      return Promise.reject(error);
    }
    this.#disposed ??= this.#end(graceMs);
    return this.#disposed;
  }

  /** The same as `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #end(graceMs: number): Promise<void> {
    const id = this.#id;
    if (id === undefined) return;
    if (engineName() === 'portable') return disposePortable(id, graceMs);
    await channel().request((request) => channel().native.dispose(id, request, graceMs));
  }
}

/** Creates a new owner. Without one, commands belong to the host process (or worker) itself. */
export function createOwner(): Owner {
  return new Owner();
}

/** The owner of commands without an owner of their own. */
export const hostOwner = new Owner();
