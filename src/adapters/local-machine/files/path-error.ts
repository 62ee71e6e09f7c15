import { brand, hasCode, messageOf, showValue } from '../../../support/errors.js';

/** The kind of failure of a file operation. */
export type PathErrorKind =
  /** Nothing is at the path, or a directory on the way is missing. */
  | 'missing'
  /** The path leads out of the root: by `..`, as an absolute path, or by a symlink. */
  | 'outside'
  | 'isDirectory'
  | 'notDirectory'
  /** The path is a device, a pipe or a socket, where a regular file is needed. */
  | 'notFile'
  | 'tooLarge'
  | 'exists'
  | 'denied'
  /** Any other failure; `code` has the system's name for it. */
  | 'failed';

const KINDS: Readonly<Record<string, PathErrorKind>> = {
  ENOENT: 'missing',
  EISDIR: 'isDirectory',
  ENOTDIR: 'notDirectory',
  EEXIST: 'exists',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  // A socket, or a pipe without a reader that was opened for writing.
  ENXIO: 'notFile',
};

const CODES: Readonly<Partial<Record<PathErrorKind, string>>> = {
  missing: 'ENOENT',
  outside: 'EXDEV',
  isDirectory: 'EISDIR',
  notDirectory: 'ENOTDIR',
  notFile: 'EINVAL',
  tooLarge: 'EFBIG',
  exists: 'EEXIST',
  denied: 'EACCES',
};

/** A failure of a file operation on the local machine. The message is one line. */
export class PathError extends Error {
  static {
    brand(PathError, 'PathError');
  }
  override readonly name = 'PathError';
  /** The kind of the failure, for programs. */
  readonly kind: PathErrorKind;
  /** The path as the caller gave it. */
  readonly path: string;
  /** The system's name for the error, such as `ENOENT`; `EXDEV` for a path that leads outside. */
  readonly code: string;

  /** Makes the error; with the system's own error as `cause`, it has the `code` of that. */
  constructor(kind: PathErrorKind, path: string, says: string, cause?: unknown) {
    super(`${showValue(path)}: ${says}`, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.path = path;
    this.code = codeOf(cause) ?? CODES[kind] ?? 'EIO';
  }
}

const SAYS: Readonly<Partial<Record<PathErrorKind, string>>> = {
  missing: 'no such file or directory',
  isDirectory: 'it is a directory',
  notDirectory: 'not a directory',
  exists: 'it exists already',
  denied: 'permission denied',
  notFile: 'not a regular file',
};

/** Turns an error of the system into one about the path that the caller gave. */
export function pathErrorOf(thrown: unknown, path: string): unknown {
  const code = codeOf(thrown);
  if (thrown instanceof PathError || code === undefined) return thrown;
  const kind = KINDS[code] ?? 'failed';
  // The system's message names /proc/self/fd/…, by which the file was opened, and which says nothing to
  // a reader.
  const says = SAYS[kind] ?? messageOf(thrown).replace(/,? \w+ '.*$/s, '');
  return new PathError(kind, path, says, thrown);
}

/** Returns whether an error means that nothing is at the path. */
export function isMissingPath(thrown: unknown): boolean {
  return hasCode(thrown, 'ENOENT');
}

function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
