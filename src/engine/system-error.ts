import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';

/** The system's name for an errno, such as `ENOENT`. */
export function errorCode(errno: number): string {
  return getSystemErrorName(-errno);
}

/** The name of a signal's number, such as `SIGTERM`; real-time signals are `SIGRT<number>`. */
export function signalName(number: number): NodeJS.Signals {
  return (names.get(number) ?? `SIGRT${number}`) as NodeJS.Signals;
}

// SIGIOT, SIGPOLL and SIGUNUSED are second names; what comes first in the table is the usual one.
const names = new Map<number, string>();
for (const [name, number] of Object.entries(constants.signals)) {
  if (!names.has(number)) names.set(number, name);
}
