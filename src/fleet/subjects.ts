import { InputError, showValue } from '../support/errors.js';
import { randomBytes } from '../support/random.js';

/** Where what is said in a pool. */
export interface Subjects {
  /** One worker that takes new work answers. */
  readonly place: string;
  /** All workers answer. */
  readonly who: string;
  /** One worker, by its id: lines are opened there. */
  readonly worker: (id: string) => string;
}

/** A name for whom nobody can guess: 128 random bits. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

/** @throws {InputError} It is no name of a pool. */
export function subjectsOf(pool: string): Subjects {
  if (typeof pool !== 'string' || !/^[\w-]{1,64}$/.test(pool)) {
    throw new InputError(`pool: expected letters, digits, - and _, got ${showValue(pool)}`);
  }
  const base = `forkline.${pool}`;
  return {
    place: `${base}.place`,
    who: `${base}.who`,
    worker: (id) => `${base}.worker.${id}`,
  };
}

/** The last word of a subject: what a line is called. */
export function lastToken(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}
