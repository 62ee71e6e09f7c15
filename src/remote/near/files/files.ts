import { checkSwitch, type OptionNames, readOptions, wholeFrom } from '../../../support/checks.js';
import { InputError, showValue } from '../../../support/errors.js';
import type { ScriptOptions, StartThere } from './far-script.js';
import { type FarList, type FarListing, listDirectory } from './listing.js';
import { type FarRange, readStream, readWhole } from './reading.js';
import { packed, removeThere, unpackThere } from './trees.js';
import { type FarContent, type FarWrite, writeWhole } from './writing.js';

/** Bytes that `read()` takes at most by default. */
const MOST_BYTES = 16 * 1024 ** 2;

const SCRIPT_NAMES: OptionNames<ScriptOptions> = { signal: true, timeoutMs: true };
const RANGE_NAMES: OptionNames<FarRange> = { ...SCRIPT_NAMES, offset: true, length: true };
const LIST_NAMES: OptionNames<FarList> = { ...SCRIPT_NAMES, recursive: true, max: true };
const WRITE_NAMES: OptionNames<FarWrite> = {
  ...SCRIPT_NAMES,
  ...{ mode: true, size: true, makeDirectories: true, ifAbsent: true },
};

/**
 * Files of a far side. Each call is a command there: it has the rights, the limits and the sandbox that commands
 * have, needs `sh`, `cat`, `find`, `stat` and `tar` as commands find them, and takes what a command takes. Relative
 * paths begin where commands begin.
 *
 * All calls take `signal`, and `timeoutMs`, by default 10 minutes. An option that is not known is an `InputError`.
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
    given: FarRange & { readonly maxBytes?: number | undefined } = {},
  ): Promise<Buffer> {
    const names = { ...RANGE_NAMES, maxBytes: true } as const;
    const { maxBytes = MOST_BYTES, ...range } = readOptions('options', given, names);
    return readWhole(this.#start, this.#path(path), wholeFrom('maxBytes', 1, maxBytes), range);
  }

  /**
   * Yields the bytes of a file, of any size, as fast as they are taken.
   *
   * @throws {InputError} An option is not valid.
   */
  readStream(path: string, range: FarRange = {}): AsyncGenerator<Uint8Array, void, void> {
    return readStream(this.#start, this.#path(path), readOptions('options', range, RANGE_NAMES));
  }

  /**
   * Writes a file, whole or not at all: beside its place, compared by length and SHA-256, then renamed.
   *
   * @param data Text, bytes, `{ file }` for a file of this machine, or an async iterable of bytes, with `size`.
   * @throws {InputError} The data or an option is not valid.
   * @throws {FarFileError} `ENOSPC`, `EACCES`, `EEXIST` with `ifAbsent`; `ECUT`: not all bytes have arrived.
   */
  async write(path: string, data: FarContent, options: FarWrite = {}): Promise<void> {
    const { makeDirectories, ifAbsent, ...own } = readOptions('options', options, WRITE_NAMES);
    checkSwitch('makeDirectories', makeDirectories);
    checkSwitch('ifAbsent', ifAbsent);
    const flags = { makeDirectories, ifAbsent };
    await writeWhole(this.#start, this.#path(path), data, { ...own, ...flags });
  }

  /**
   * Lists a directory, sorted by path; with `recursive` all below it. Links are not followed.
   *
   * @throws {InputError} An option is not valid.
   * @throws {FarFileError} `ENOENT`; `ENOTDIR`; `EACCES`.
   */
  async list(path: string, options: FarList = {}): Promise<FarListing> {
    const { recursive, ...own } = readOptions('options', options, LIST_NAMES);
    checkSwitch('recursive', recursive);
    return listDirectory(this.#start, this.#path(path), { ...own, recursive });
  }

  /**
   * Removes a file, a link, or an empty directory; with `recursive` a directory with all that is in it.
   *
   * @throws {FarFileError} `ENOENT`; `ENOTEMPTY`.
   */
  async remove(
    path: string,
    given: ScriptOptions & { readonly recursive?: boolean | undefined } = {},
  ): Promise<void> {
    const names = { ...SCRIPT_NAMES, recursive: true } as const;
    const { recursive, ...options } = readOptions('options', given, names);
    checkSwitch('recursive', recursive);
    await removeThere(this.#start, this.#path(path), recursive === true, options);
  }

  /**
   * Yields a directory as an archive of `tar`, with `gzip` a compressed one.
   *
   * @throws {InputError} An option is not valid.
   */
  pack(
    path: string,
    given: ScriptOptions & { readonly gzip?: boolean | undefined } = {},
  ): AsyncGenerator<Uint8Array, void, void> {
    const names = { ...SCRIPT_NAMES, gzip: true } as const;
    const { gzip, ...options } = readOptions('options', given, names);
    checkSwitch('gzip', gzip);
    return packed(this.#start, this.#path(path), gzip === true, options);
  }

  /**
   * Unpacks an archive of `tar`, compressed by gzip or not, into a directory, which is made. What fails in the middle
   * leaves what was unpacked by then.
   *
   * @throws {InputError} An option is not valid.
   * @throws {FarFileError} It is no archive, or can't be unpacked there.
   */
  async unpack(
    path: string,
    archive: Uint8Array | AsyncIterable<Uint8Array>,
    options: ScriptOptions = {},
  ): Promise<void> {
    const own = readOptions('options', options, SCRIPT_NAMES);
    await unpackThere(this.#start, this.#path(path), archive, own);
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
