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

/** The default limit for files that are read as a whole: 64 MiB. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The status of the entry at a path. */
interface FileStatus {
  readonly type: EntryType;
  /** The size in bytes. */
  readonly size: number;
  /** The time of the last change of the content. */
  readonly modified: Date;
  /** The time when the file was made, if the file system knows it. */
  readonly created: Date;
}

interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** Options for writing a file. */
interface WriteOptions extends Abortable {
  /** Whether the file must not exist yet. Default: an existing file is replaced. */
  readonly exclusive?: boolean | undefined;
  /** Permissions of a new file, before the umask. Default: 0o666. */
  readonly mode?: number | undefined;
}

/**
 * The files below one directory. Paths are relative to it, or absolute and in it. No path leads out, by
 * `..` or by a symlink; symlinks that stay inside are followed.
 *
 * On Linux each directory on the way is opened from the one before and held, so that replacing one by a
 * symlink meanwhile has no effect (`hold: 'descriptor'`). Without /proc, each is looked up by its path
 * (`hold: 'path'`): a process that can rename in the root during an operation can lead it out. Neither
 * detects hard links and mounts that lead elsewhere.
 *
 * All methods throw a {@link PathError} for what is wrong with a path, and the reason of an aborted
 * signal.
 */
export class LocalFiles {
  readonly #root: Root;

  private constructor(root: Root) {
    this.#root = root;
  }

  /**
   * Opens a directory.
   *
   * @throws {PathError} There is no such directory.
   */
  static async open(directory: string, hold?: Hold): Promise<LocalFiles> {
    try {
      const real = await realpath(directory);
      const aliases = [resolve(directory)].filter((alias) => alias !== real);
      // Also throws if the path is no directory.
      await (await holdDirectory(real, 'path')).close();
      return new LocalFiles({ directory: real, aliases, hold: hold ?? (await bestHold(real)) });
    } catch (error) {
      throw pathErrorOf(error, directory);
    }
  }

  /** The path of the directory, without symlinks. */
  get root(): string {
    return this.#root.directory;
  }

  get hold(): Hold {
    return this.#root.hold;
  }

  /**
   * Reads a whole file.
   *
   * @param maxBytes Bytes of the file at most. Default: 64 MiB.
   */
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

  /** Returns a stream of a file of any size; the file stays open until the end is read. */
  readStream(path: string, { signal }: Abortable = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#at(path, {}, async ({ at }) =>
      fileStream(await openFile(at, path, 'read'), signal),
    );
  }

  /** Writes a file, and makes directories that are missing. */
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
   * @param change Returns the new text. If it throws, the error is passed on and the file stays as it
   *   was.
   * @throws {PathError} Also: the file is not UTF-8.
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
   * Returns the status of a path; `undefined`: nothing is there.
   *
   * @param keepLink Whether the status is that of a symlink itself. Default: of its target.
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

  /** Returns the entries of a directory, by name. */
  list(path: string): Promise<DirectoryEntry[]> {
    return this.#in(path, (directory) => entriesOf(directory));
  }

  /** Makes a directory and its parents; an existing one is no error. */
  makeDirectory(path: string): Promise<void> {
    return this.#at(path, { makeParents: true }, async ({ at, parent, name }) => {
      try {
        await mkdir(at);
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
        // Throws if the entry is no directory.
        await (await holdDirectory(parent.at(name), this.hold)).close();
      }
    });
  }

  /**
   * Removes a file, a symlink or, with `recursive`, a directory and all in it.
   *
   * @returns Whether anything was there.
   */
  async remove(path: string, { recursive = false } = {}): Promise<boolean> {
    try {
      await this.#at(path, { keepLink: true }, async ({ at, parent, name }) => {
        if (name === '.') throw new PathError('failed', path, 'the root cannot be removed');
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
   * Visits everything below a directory, until told to stop.
   *
   * @param look Called with each entry; the visit ends when it returns `false`.
   */
  walk(path: string, look: (found: FoundEntry) => boolean | Promise<boolean>): Promise<void> {
    return this.#in(path, async (directory) => {
      for await (const found of walk(directory, this.hold)) if (!(await look(found))) return;
    });
  }

  /**
   * Returns the path of a directory, for a command to start in. A command itself uses paths, and may
   * leave the root.
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
