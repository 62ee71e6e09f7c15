import { constants } from 'node:os';

/** The system's name for an errno, such as `ENOENT`. */
export function errorCode(errno: number): string {
  return errorNames.get(errno) ?? `E${errno}`;
}

/** The name of a signal's number, such as `SIGTERM`; real-time signals are `SIGRT<number>`. */
export function signalName(number: number): NodeJS.Signals {
  return (signalNames.get(number) ?? `SIGRT${number}`) as NodeJS.Signals;
}

// `getSystemErrorName()` knows only what libuv has a use for, and ENOEXEC is not among it.
const errorNames = byNumber(constants.errno);
const signalNames = byNumber(constants.signals);

/** EWOULDBLOCK, SIGIOT, SIGPOLL are second names; what comes first in the tables is the usual one. */
function byNumber(table: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  const entries = Object.entries(table).map(([name, number]) => [number, name] as const);
  return new Map(entries.reverse());
}
