import { hasCode, messageOf, showValue } from '../../../support/errors.js';

/** Why a file could not be worked with. */
export type PathErrorKind =
  /** There is nothing at that path, or a directory on the way is missing. */
  | 'missing'
  /** It leads out of the root: by `..`, as an absolute path, or by a symlink. */
  | 'outside'
  | 'isDirectory'
  | 'notDirectory'
  /** A device, a pipe or a socket, where a regular file is wanted. */
  | 'notFile'
  | 'tooLarge'
  | 'exists'
  | 'denied'
  /** All else: `code` has the system's name for it. */
  | 'failed';

const KINDS: Readonly<Record<string, PathErrorKind>> = {
  ENOENT: 'missing',
  EISDIR: 'isDirectory',
  ENOTDIR: 'notDirectory',
  EEXIST: 'exists',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  // A pipe that nobody reads is opened to write, or a socket.
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

/** A file operation of the local machine that could not be done. Its message is one line. */
export class PathError extends Error {
  override readonly name = 'PathError';
  /** Why, so that a program can tell one from another. */
  readonly kind: PathErrorKind;
  /** The path as it was given. */
  readonly path: string;
  /** The system's name for it, such as `ENOENT`; a path that leads outside is `EXDEV`. */
  readonly code: string;

  /** With the system's own error for a `cause`, it has the `code` of that. */
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

/** What the system has thrown, as an error about the path that the caller has given. */
export function pathErrorOf(thrown: unknown, path: string): unknown {
  const code = codeOf(thrown);
  if (thrown instanceof PathError || code === undefined) return thrown;
  const kind = KINDS[code] ?? 'failed';
  // What the system says names the way it was opened by, /proc/self/fd/…, which tells nobody anything.
  const says = SAYS[kind] ?? messageOf(thrown).replace(/,? \w+ '.*$/s, '');
  return new PathError(kind, path, says, thrown);
}

/** Whether there is nothing at that path. */
export function isMissingPath(thrown: unknown): boolean {
  return hasCode(thrown, 'ENOENT');
}

function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
