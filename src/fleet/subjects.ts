import { isMissing } from '../support/checks.js';
import { InputError, showValue } from '../support/errors.js';
import { randomBytes } from '../support/random.js';

/** The subjects of a pool. */
export interface Subjects {
  /**
   * Answered by one of the workers in a tier that have the labels of a key.
   *
   * @param tier One of {@link TIERS}, or `there`, where all are that have the labels.
   */
  readonly place: (tier: string, key: string) => string;
  /** Answered by all workers. */
  readonly who: string;
  /** The subject of one worker, by its id: lines are opened there. */
  readonly worker: (id: string) => string;
  /** The subject on which a worker is told to drain: clients need no right to it. */
  readonly drain: (id: string) => string;
  /** The beginning of subjects on which one client, or one worker, hears answers. */
  readonly inbox: {
    readonly client: (name: string) => string;
    readonly worker: (id: string) => string;
  };
  /** The bucket of the broker's object store for what is large. */
  readonly bucket: string;
  /** Subjects that a client publishes on, and that a worker does, as far as nobody hears them. */
  readonly checks: { readonly client: readonly string[]; readonly worker: readonly string[] };
}

/**
 * Groups of workers, by how much they have to do: nothing, less than is crowded, less than they can. One
 * with nothing to do is in all three.
 */
export const TIERS = ['idle', 'calm', 'room'] as const;

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
    place: (tier, key) => `${base}.place.${tier}.${key}`,
    who: `${base}.who`,
    worker: (id) => `${base}.worker.${id}`,
    drain: (id) => `${base}.drain.${id}`,
    // All is below the pool, so that one permission keeps pools apart; and workers hear what clients
    // may publish on, so that no client can answer in the place of a worker.
    inbox: {
      client: (name) => `${base}.inbox.${name}`,
      worker: (id) => `${base}.worker.${id}.inbox`,
    },
    bucket: `forkline-${pool}`,
    checks: {
      client: [`${base}.place.check.check`, `${base}.who`, `${base}.worker.check.check`],
      worker: [`${base}.inbox.check.check`],
    },
  };
}

/** The word of clients that have no name. */
const SHARED = 'shared';

/**
 * Returns the word by which a client's inbox differs from those of other users.
 *
 * @param inbox The option. Default: the user's name, if it can be a word of a subject, else `shared`.
 * @throws {InputError} It can be no word of a subject.
 */
export function inboxWord(inbox: unknown, user: unknown): string {
  const isWord = (value: unknown): value is string =>
    typeof value === 'string' && /^[\w-]{1,64}$/.test(value);
  if (isWord(inbox)) return inbox;
  if (!isMissing(inbox)) {
    throw new InputError(`inbox: expected letters, digits, - and _, got ${showValue(inbox)}`);
  }
  return isWord(user) ? user : SHARED;
}

/** Returns the last word of a subject: the name of a line. */
export function lastToken(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}
