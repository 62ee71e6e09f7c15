import { runElsewhere } from '../../faces/command.js';
import { Owner } from '../../faces/engine.js';
import type { PlainCommandOptions } from '../wire/protocol.js';
import { farHost, type Reached } from './command.js';

/** The owner of one command of a far side: starts it there. The far side's own owner ends it. */
class FarOwner extends Owner {
  readonly #isDisposed: () => boolean;

  constructor(isDisposed: () => boolean) {
    super();
    this.#isDisposed = isDisposed;
  }

  override get isDisposed(): boolean {
    return this.#isDisposed();
  }
}

/**
 * Returns an owner for one command.
 *
 * @param options The command's options that are sent.
 * @param isDisposed Whether this side has disposed of the line.
 */
export function ownerOf(
  reached: Reached,
  options: PlainCommandOptions,
  isDisposed: () => boolean,
): Owner {
  const owner = new FarOwner(isDisposed);
  runElsewhere(owner, farHost(reached, options));
  return owner;
}
