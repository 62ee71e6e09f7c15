import { lstat, mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { throwIfAborted } from '../../../support/abort.js';
import { bestHold, type Hold, holdDirectory } from '../../../support/directories/held-directory.js';
import { hasCode } from '../../../support/errors.js';
import { checkPath } from './check-path.js';
import { type Content, fileStream, openFile, readAll, replaceContent } from './content.js';
import { isMissingPath, PathError, pathErrorOf } from './path-error.js';
import { type HeldPlace, type Root, reach, type Way } from './place.js';
import {
  type DirectoryEntry,
  type EntryType,
  entriesOf,
  type FoundEntry,
  removeTree,
  typeOf,
  walk,
} from './tree.js';

/** Bytes of a file that is read as a whole, unless told: 64 MiB. */
const MOST_BYTES = 64 * 1024 * 1024;

/** What stands at a path. */
interface FileStatus {
  readonly type: EntryType;
  /** In bytes. */
  readonly size: number;
  /** When its content was last changed. */
  readonly modified: Date;
  /** When it was made, as far as the file system knows. */
  readonly created: Date;
}

interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** How a file is written. */
interface WriteOptions extends Abortable {
  /** It must not be there yet. Default: what is there is replaced. */
  readonly exclusive?: boolean | undefined;
  /** Its permissions, before the umask, if it is made. Default: 0o666. */
  readonly mode?: number | undefined;
}

/**
 * The files below one directory. Paths are relative to it, or absolute and in it. No path leads out,
 * by `..` or by a symlink, and symlinks that stay inside are followed.
 *
 * On Linux each directory on the way is opened from the one before and held, so that it makes no
 * difference who replaces one by a symlink meanwhile (`hold: 'descriptor'`). Where there is no /proc,
 * each is looked at by its path (`hold: 'path'`): who can rename in the root while something is done
 * there gets out of it. Neither knows of hard links and mounts that lead elsewhere.
 *
 * All methods throw a {@link PathError} for what is wrong with a path, and what the signal was aborted
 * with.
 */
export class LocalFiles {
  readonly #root: Root;

  private constructor(root: Root) {
    this.#root = root;
  }

  /** @throws {PathError} There is no such directory. */
  static async open(directory: string, hold?: Hold): Promise<LocalFiles> {
    try {
      const real = await realpath(directory);
      const aliases = [resolve(directory)].filter((alias) => alias !== real);
      // Said of what is not one as well.
      await (await holdDirectory(real, 'path')).close();
      return new LocalFiles({ directory: real, aliases, hold: hold ?? (await bestHold(real)) });
    } catch (error) {
      throw pathErrorOf(error, directory);
    }
  }

  /** The directory, without symlinks. */
  get root(): string {
    return this.#root.directory;
  }

  get hold(): Hold {
    return this.#root.hold;
  }

  /** @param maxBytes Default: 64 MiB. */
  read(path: string, options: Abortable & { readonly maxBytes?: number } = {}): Promise<Buffer> {
    return this.#at(path, {}, async ({ at }) => {
      const handle = await openFile(at, path, 'read');
      try {
        return await readAll(handle, path, { maxBytes: MOST_BYTES, ...options });
      } finally {
        await handle.close();
      }
    });
  }

  /** The file's bytes, of any size, as they are asked for. It stays open until then. */
  readStream(path: string, { signal }: Abortable = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#at(path, {}, async ({ at }) =>
      fileStream(await openFile(at, path, 'read'), signal),
    );
  }

  /** Makes the directories that are missing. */
  write(path: string, content: Content, options: WriteOptions = {}): Promise<void> {
    const { exclusive = false, mode, signal } = options;
    return this.#at(path, { makeParents: true, keepLink: exclusive }, async ({ at }) => {
      if (signal) throwIfAborted(signal);
      const handle = await openFile(at, path, exclusive ? 'create' : 'write', mode);
      try {
        await replaceContent(handle, content, signal);
      } finally {
        await handle.close();
      }
    });
  }

  /**
   * Changes the text of a file, which is opened once.
   *
   * @param change What it throws is thrown, and the file stays as it was.
   * @throws {PathError} Also: it is not UTF-8.
   */
  async edit(path: string, change: (text: string) => string): Promise<void> {
    await this.#at(path, {}, async ({ at }) => {
      const handle = await openFile(at, path, 'change');
      try {
        const bytes = await readAll(handle, path, { maxBytes: MOST_BYTES });
        await replaceContent(handle, Buffer.from(change(textOfBytes(bytes, path))));
      } finally {
        await handle.close();
      }
    });
  }

  /**
   * What stands at a path; undefined: nothing.
   *
   * @param keepLink Of a symlink itself. Default: of what it leads to.
   */
  async status(path: string, keepLink = false): Promise<FileStatus | undefined> {
    try {
      return await this.#at(path, { keepLink }, async ({ at }) => {
        const status = await lstat(at);
        const { size, mtime: modified, birthtime: created } = status;
        return { type: typeOf(status), size, modified, created };
      });
    } catch (error) {
      if (isMissingPath(error)) return undefined;
      throw error;
    }
  }

  /** The entries of a directory, by name. */
  list(path: string): Promise<DirectoryEntry[]> {
    return this.#in(path, (directory) => entriesOf(directory));
  }

  /** Makes a directory and those on the way to it; one that is there is fine. */
  makeDirectory(path: string): Promise<void> {
    return this.#at(path, { makeParents: true }, async ({ at, parent, name }) => {
      try {
        await mkdir(at);
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
        // A directory? Else it says what is wrong.
        await (await holdDirectory(parent.at(name), this.hold)).close();
      }
    });
  }

  /**
   * Removes a file, a symlink or, with `recursive`, a directory and all in it.
   *
   * @returns False: there was nothing.
   */
  async remove(path: string, { recursive = false } = {}): Promise<boolean> {
    try {
      await this.#at(path, { keepLink: true }, async ({ at, parent, name }) => {
        if (name === '.') throw new PathError('failed', path, 'this directory itself stays');
        if (!recursive && (await lstat(at)).isDirectory()) {
          throw new PathError('isDirectory', path, 'it is a directory');
        }
        await removeTree(parent, name, this.hold);
      });
      return true;
    } catch (error) {
      if (isMissingPath(error)) return false;
      throw error;
    }
  }

  /**
   * Looks at all below a directory, until told that it is enough.
   *
   * @param look What it returns `false` for is the last one.
   */
  walk(path: string, look: (found: FoundEntry) => boolean | Promise<boolean>): Promise<void> {
    return this.#in(path, async (directory) => {
      for await (const found of walk(directory, this.hold)) if (!(await look(found))) return;
    });
  }

  /**
   * A directory by its path, for a command to start in. Commands go by paths, and wherever they like.
   */
  directory(path: string): Promise<string> {
    return this.#in(path, (directory) => realpath(directory.at('.')));
  }

  #at<T>(path: string, way: Way, use: (place: HeldPlace) => Promise<T>): Promise<T> {
    return this.#telling(path, () => reach(this.#root, path, way, use));
  }

  async #in<T>(path: string, use: (directory: HeldHere) => Promise<T>): Promise<T> {
    return this.#at(path, {}, async ({ at }) => {
      const directory = await holdDirectory(at, this.hold);
      try {
        return await use(directory);
      } finally {
        await directory.close();
      }
    });
  }

  async #telling<T>(path: string, work: () => Promise<T>): Promise<T> {
    checkPath(path);
    try {
      return await work();
    } catch (error) {
      throw pathErrorOf(error, path);
    }
  }
}

type HeldHere = Awaited<ReturnType<typeof holdDirectory>>;

function textOfBytes(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new PathError('failed', path, 'it is not text in UTF-8');
  }
}
