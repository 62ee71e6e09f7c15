import { constants } from 'node:os';

/** The system's errors by their names. */
export const ERRNO = constants.errno;

/** The system's name for an errno, such as `ENOENT`. */
export function errorCode(errno: number): string {
  return errorNames.get(errno) ?? `E${errno}`;
}

// Names by errno, from the table of constants: `getSystemErrorName()` knows only libuv's errors, and not
// ENOEXEC for example. EWOULDBLOCK is a second name; the first name in the table is the usual one.
const errorNames: ReadonlyMap<number, string> = new Map(
  Object.entries(ERRNO)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
);
