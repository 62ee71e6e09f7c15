import { realpath, stat } from 'node:fs/promises';

/** A directory in which a command starts. */
export interface Place {
  /** As it was given, or as it was found. */
  readonly path: string;
  /** The path without symlinks, as the system tells where a process is. */
  readonly real: string;
}

/** What the kernel puts after the name of a directory that has been removed. */
const DELETED = ' (deleted)';

/**
 * The working directory that lasts from one command to the next.
 *
 * Commands may run side by side. Each starts where the session is at its start; one that ends
 * somewhere else moves the session there; one that has not moved changes nothing. So of several
 * that move, the last to end decides.
 */
export class SessionDirectory {
  readonly #start: string;
  #now: Place | undefined;

  /** @param start Absolute. */
  constructor(start: string) {
    this.#start = start;
  }

  /** Where the next command will start. */
  get path(): string {
    return this.#now?.path ?? this.#start;
  }

  /** The place where a command that starts now does. */
  async here(): Promise<Place> {
    if (this.#now !== undefined) return this.#now;
    const real = await realpath(this.#start).catch(() => this.#start);
    // Another call may have moved meanwhile.
    this.#now ??= { path: this.#start, real };
    return this.#now;
  }

  /**
   * A command has ended.
   *
   * @param from Where it started.
   * @param end Where it ended, as the engine tells it; undefined: not known.
   */
  async follow(from: Place, end: string | undefined): Promise<void> {
    if (end === undefined || end === from.real) return;
    const path = await existing(end);
    if (path !== from.real) this.#now = { path, real: path };
  }

  /**
   * A command could not be started where the session was: it goes back to its start.
   *
   * @param why What is wrong with the place.
   * @returns What to tell the model.
   */
  lose(from: Place, why: string): string {
    // Unless another call has moved it meanwhile.
    if (this.#now === from) this.#now = undefined;
    if (this.path === from.path) return why;
    return `${why}. The next command will start in ${this.path}, as at first.`;
  }
}

/**
 * A directory may really be called `x (deleted)`. One that is not there is called what it was, so
 * that whoever comes next is told that it is gone.
 */
async function existing(path: string): Promise<string> {
  if (!path.endsWith(DELETED)) return path;
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? path : path.slice(0, -DELETED.length);
}
