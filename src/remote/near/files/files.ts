import { wholeFrom } from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';
import type { ScriptOptions, StartThere } from './far-script.js';
import { type FarList, type FarListing, listDirectory } from './listing.js';
import { type FarRange, readStream, readWhole } from './reading.js';
import { packed, removeThere, unpackThere } from './trees.js';
import { type FarContent, type FarWrite, writeWhole } from './writing.js';

/** Bytes that `read()` takes at most by default. */
const MOST_BYTES = 16 * 1024 ** 2;

/**
 * Files of a far side. Each call is a command there: it has the rights, the limits and the sandbox that commands
 * have, needs `sh`, `cat`, `find`, `stat` and `tar` as commands find them, and takes what a command takes. Relative
 * paths begin where commands begin.
 *
 * All calls take `signal`, and `timeoutMs`, by default 10 minutes.
 */
export class FarFiles {
  readonly #start: StartThere;
  readonly #resolve: (path: string) => string;

  /**
   * Made by a connection, or with a tool.
   *
   * @param resolve Returns where a relative path leads. Default: where commands begin.
   */
  constructor(start: StartThere, resolve: (path: string) => string = (path) => path) {
    this.#start = start;
    this.#resolve = resolve;
  }

  /** Returns the files of whatever this returns at each call. */
  static following(current: () => FarFiles): FarFiles {
    return new FarFiles(
      (command, options) => current().#start(command, options),
      (path) => current().#resolve(path),
    );
  }

  #path(path: string): string {
    return this.#resolve(checkPath(path));
  }

  /**
   * Reads a file, of which there are at most `maxBytes`, by default 16 MiB.
   *
   * @throws {FarFileError} `ENOENT`, `EACCES`, `EISDIR`; `ETOOLARGE`: it has more bytes.
   */
  async read(
    path: string,
    { maxBytes = MOST_BYTES, ...range }: FarRange & { readonly maxBytes?: number | undefined } = {},
  ): Promise<Buffer> {
    return readWhole(this.#start, this.#path(path), wholeFrom('maxBytes', 1, maxBytes), range);
  }

  /** Yields the bytes of a file, of any size, as fast as they are taken. */
  readStream(path: string, range: FarRange = {}): AsyncGenerator<Uint8Array, void, void> {
    return readStream(this.#start, this.#path(path), range);
  }

  /**
   * Writes a file, whole or not at all: beside its place, compared by length and SHA-256, then renamed.
   *
   * @param data Text, bytes, `{ file }` for a file of this machine, or an async iterable of bytes, with `size`.
   * @throws {InputError} The data or an option is not valid.
   * @throws {FarFileError} `ENOSPC`, `EACCES`, `EEXIST` with `ifAbsent`; `ECUT`: not all bytes have arrived.
   */
  async write(path: string, data: FarContent, options: FarWrite = {}): Promise<void> {
    await writeWhole(this.#start, this.#path(path), data, options);
  }

  /** Lists a directory, sorted by path; with `recursive` all below it. Links are not followed. */
  async list(path: string, options: FarList = {}): Promise<FarListing> {
    return listDirectory(this.#start, this.#path(path), options);
  }

  /**
   * Removes a file, a link, or an empty directory; with `recursive` a directory with all that is in it.
   *
   * @throws {FarFileError} `ENOENT`; `ENOTEMPTY`.
   */
  async remove(
    path: string,
    { recursive, ...options }: ScriptOptions & { readonly recursive?: boolean | undefined } = {},
  ): Promise<void> {
    await removeThere(this.#start, this.#path(path), recursive === true, options);
  }

  /** Yields a directory as an archive of `tar`, with `gzip` a compressed one. */
  pack(
    path: string,
    { gzip, ...options }: ScriptOptions & { readonly gzip?: boolean | undefined } = {},
  ): AsyncGenerator<Uint8Array, void, void> {
    return packed(this.#start, this.#path(path), gzip === true, options);
  }

  /**
   * Unpacks an archive of `tar`, compressed by gzip or not, into a directory, which is made. What fails in the middle
   * leaves what was unpacked by then.
   */
  async unpack(
    path: string,
    archive: Uint8Array | AsyncIterable<Uint8Array>,
    options: ScriptOptions = {},
  ): Promise<void> {
    await unpackThere(this.#start, this.#path(path), archive, options);
  }
}

/** @throws {InputError} It can't be a path. */
function checkPath(path: string): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new InputError(`path: expected text without NUL, got ${showValue(path)}`);
  }
  // Programs take it for an option.
  return path.startsWith('-') ? `./${path}` : path;
}
