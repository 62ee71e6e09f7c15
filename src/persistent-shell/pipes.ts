import { unlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeTemporaryDirectory,
  removeTemporaryDirectory,
} from '../artifacts/temporary-directory.js';
import { NamedPipe } from '../engine/local-stream.js';
import { hasCode, messageOf } from '../support/errors.js';
import { PipesError } from './pipes-error.js';

/** Returns a path that leads to the pipe as long as this process has it open, even if its name is removed. */
export function pathByDescriptor({ descriptor }: NamedPipe): string {
  return `/proc/${process.pid}/fd/${descriptor}`;
}

const PREFIX = 'shell-';
/** The age after which a later host removes the directory: a shell is of no use without its host. */
const MAX_AGE_MS = 60 * 60 * 1000;

/**
 * Makes a private directory for pipes.
 *
 * @param home The directory to make it in; undefined: among the user's temporary directories.
 * @throws {PipesError} The directory cannot be made.
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

  /** The directory where pipes are made now. */
  get directory(): string {
    return this.#directory;
  }

  /**
   * Makes a pipe.
   *
   * @param staysOpen Whether the pipe has no EOF while this process has it open.
   * @throws {LaunchError} The pipe cannot be made.
   * @throws {PipesError} The directory had been removed and cannot be made again.
   */
  async make(name: string, staysOpen: boolean): Promise<NamedPipe> {
    try {
      return this.#make(name, staysOpen);
    } catch (error) {
      // The temporary directory was cleared.
      if (this.#isClosed || !hasCode(error, 'ENOENT')) throw error;
      this.#directory = await makePipesDirectory();
      return this.#make(name, staysOpen);
    }
  }

  /** Removes a pipe's name. Synchronous, as `make()` is, since that takes no longer. */
  forget({ path }: NamedPipe): void {
    try {
      unlinkSync(path);
    } catch {
      // The name was removed before.
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // A later host removes what cannot be removed now.
    await removeTemporaryDirectory(this.#directory).catch(() => {});
  }

  #make(name: string, staysOpen: boolean): NamedPipe {
    return new NamedPipe(join(this.#directory, name), staysOpen);
  }
}
