import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Something that a suite needs is not on this machine: it is not measured, which is no failure. */
export class NotMeasured extends Error {
  /** @override */
  name = 'NotMeasured';
}

/**
 * @param {string} name of a program or a package
 * @param {string} from where to get it
 */
export const notInstalled = (name, from) => `${name} is not installed (${from})`;

/**
 * Returns a function for `catch()` and the like: an error that says that a program does not exist is one of
 * {@link NotMeasured}, any other one stays.
 * @param {string} program
 * @param {string} from where to get it
 */
export const needing = (program, from) => (/** @type {unknown} */ error) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'
    ? new NotMeasured(notInstalled(program, from))
    : error;

/**
 * Returns whether a program is in a folder of PATH.
 * @param {string} program
 */
export const isOnPath = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, program)));

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks that a program is there, for a suite that would fail or hang without it.
 * @param {string} program
 * @param {string} from where to get it
 * @throws {NotMeasured}
 */
export function needProgram(program, from) {
  if (!isOnPath(program)) throw new NotMeasured(notInstalled(program, from));
}

/**
 * Returns what is missing where a package is not installed; undefined: it is.
 * @param {string} name as it is imported
 */
export function absence(name) {
  try {
    import.meta.resolve(name);
    return undefined;
  } catch (error) {
    return missingPackage(error) ?? String(error);
  }
}

/**
 * Returns what is missing where an import has failed for the lack of a package; undefined: it has failed
 * for another reason, such as a file of our own that is not there.
 * @param {unknown} error
 */
export function missingPackage(error) {
  const isMissing = error instanceof Error && 'code' in error;
  if (!isMissing || error.code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  // A package is named as it is imported, a file by its path.
  const [, name] = /^Cannot find package '([^/.][^']*)'/.exec(error.message) ?? [];
  return name === undefined ? undefined : notInstalled(name, '`npm ci`');
}
