import { brand } from '../../../support/errors.js';

/** What programs of a far side say about a file, in English, and the system's code for it. */
const CODES: readonly (readonly [text: string, code: string])[] = [
  ['No such file or directory', 'ENOENT'],
  ['Directory nonexistent', 'ENOENT'],
  ['nonexistent directory', 'ENOENT'],
  ['Permission denied', 'EACCES'],
  ['Is a directory', 'EISDIR'],
  ['Not a directory', 'ENOTDIR'],
  ['Directory not empty', 'ENOTEMPTY'],
  ['File exists', 'EEXIST'],
  ['No space left on device', 'ENOSPC'],
  ['Disk quota exceeded', 'EDQUOT'],
  ['Read-only file system', 'EROFS'],
  ['File name too long', 'ENAMETOOLONG'],
  ['Too many levels of symbolic links', 'ELOOP'],
  ['Operation not permitted', 'EPERM'],
  ['File too large', 'EFBIG'],
  ['Device or resource busy', 'EBUSY'],
  ['Input/output error', 'EIO'],
];

/** A file on a far side could not be read, written, listed or removed. */
export class FarFileError extends Error {
  static {
    brand(FarFileError, 'FarFileError');
  }
  override readonly name = 'FarFileError';
  /**
   * The system's code: `ENOENT`, `EACCES`. `ETOOLARGE`: it has more bytes than were asked for; `ECUT`: not all of it
   * has arrived, and nothing was changed; `ETIMEDOUT`; `EFAILED`: something else, which the message tells.
   */
  readonly code: string;
  /** The path, as it was given. */
  readonly path: string;
  /** The exit code of the program that failed there, if it was one. */
  readonly exitCode: number | undefined;

  /** Made by calls about files. */
  constructor(path: string, code: string, message: string, exitCode?: number) {
    super(`${path}: ${message}`);
    this.code = code;
    this.path = path;
    this.exitCode = exitCode;
  }
}

/** Returns the error of a program that has printed this on stderr. */
export function farFileError(path: string, stderr: string, exitCode?: number): FarFileError {
  const text = stderr.trim();
  const [, code = 'EFAILED'] = CODES.find(([known]) => text.includes(known)) ?? [];
  return new FarFileError(path, code, text === '' ? 'it failed, and said nothing' : text, exitCode);
}
