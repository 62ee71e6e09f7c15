import { unlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeTemporaryDirectory,
  removeTemporaryDirectory,
} from '../artifacts/temporary-directory.js';
import { makeNamedPipe } from '../engine/local-stream.js';
import { hasCode, messageOf } from '../support/errors.js';
import { PipesError } from './pipes-error.js';

/** A pipe that a shell opens by its path. */
export interface NamedPipe {
  readonly path: string;
  /** Its end for reading, which is the holder's to close. */
  readonly fd: number;
}

/** A path that leads to it for as long as this process has it open, whatever becomes of its name. */
export function pathByDescriptor({ fd }: NamedPipe): string {
  return `/proc/${process.pid}/fd/${fd}`;
}

const PREFIX = 'shell-';
/** No shell is of use without its host. */
const MAX_AGE_MS = 60 * 60 * 1000;

/**
 * A private directory for pipes.
 *
 * @param home Below which it is to be; undefined: where the user's are.
 * @throws {PipesError} It can't be made.
 */
export async function makePipesDirectory(home?: string): Promise<string> {
  try {
    if (home !== undefined) return await mkdtemp(join(home, PREFIX));
    return await makeTemporaryDirectory(PREFIX, MAX_AGE_MS);
  } catch (error) {
    throw new PipesError(`no place for its pipes: ${messageOf(error)}`, { cause: error });
  }
}

/** The private directory of a shell, with the pipes between it and the host. */
export class Pipes {
  #directory: string;
  #isClosed = false;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * @param home As with {@link makePipesDirectory}.
   * @throws {PipesError} No temporary directory can be made.
   */
  static async open(home: string | undefined): Promise<Pipes> {
    return new Pipes(await makePipesDirectory(home));
  }

  /** Where they are made now. */
  get directory(): string {
    return this.#directory;
  }

  /**
   * Makes one.
   *
   * @param staysOpen It has no end.
   * @throws {LaunchError} It cannot be made.
   * @throws {PipesError} Nor can its directory.
   */
  async make(name: string, staysOpen: boolean): Promise<NamedPipe> {
    try {
      return this.#make(name, staysOpen);
    } catch (error) {
      // Somebody has cleared the temporary directory.
      if (this.#isClosed || !hasCode(error, 'ENOENT')) throw error;
      this.#directory = await makePipesDirectory();
      return this.#make(name, staysOpen);
    }
  }

  /** Nobody is to open it any more. Done here and now, as the making of it: that takes no longer. */
  forget({ path }: NamedPipe): void {
    try {
      unlinkSync(path);
    } catch {
      // Somebody else has.
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // What cannot be removed now, a later host removes.
    await removeTemporaryDirectory(this.#directory).catch(() => {});
  }

  #make(name: string, staysOpen: boolean): NamedPipe {
    const path = join(this.#directory, name);
    return { path, fd: makeNamedPipe(path, staysOpen) };
  }
}
