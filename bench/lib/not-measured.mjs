/** Something that a suite needs is not on this machine: it is not measured, which is no failure. */
export class NotMeasured extends Error {
  /** @override */
  name = 'NotMeasured';
}

/**
 * Returns a function for `catch()` and the like: an error that says that a program does not exist is one of
 * {@link NotMeasured}, any other one stays.
 * @param {string} program
 * @param {string} from where to get it
 */
export const needing = (program, from) => (/** @type {unknown} */ error) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'
    ? new NotMeasured(`${program} is not installed (${from})`)
    : error;
