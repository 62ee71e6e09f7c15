import { InputError, showValue } from '../support/errors.js';
import { randomBytes } from '../support/random.js';

/** The subjects of a pool. */
export interface Subjects {
  /** Answered by one worker that takes new work. */
  readonly place: string;
  /** Answered by all workers. */
  readonly who: string;
  /** The subject of one worker, by its id: lines are opened there. */
  readonly worker: (id: string) => string;
}

/** Returns an id that cannot be guessed: 128 random bits. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

/** Returns whether a value is an id as {@link newId} makes it, and so safe as a word of a subject. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{32}$/.test(value);
}

/** Returns whether a value is a subject to publish on: words without blanks and wildcards. */
export function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length <= 1000 && /^[^\s.*>]+(\.[^\s.*>]+)*$/.test(value)
  );
}

/**
 * Returns the subjects of a pool.
 *
 * @throws {InputError} `pool` is no name of a pool.
 */
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

/** Returns the last word of a subject: the name of a line. */
export function lastToken(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}
