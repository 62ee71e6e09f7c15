import { constants } from 'node:os';

/** Real-time signals have no names of their own: bash counts them from both ends to the middle. */
const FIRST = 34;
const LAST = 64;
const MIDDLE = 49;

/** Returns the name of a signal's number, as bash writes it: `SIGTERM`, `SIGRTMIN+3`, `SIGRTMAX-1`. */
export function signalName(number: number): NodeJS.Signals {
  // Node's type knows only the system's own names.
  return (NAMES.get(number) ?? `SIG${number}`) as NodeJS.Signals;
}

/** Returns the number of a signal by any of its names; undefined when there is no such signal. */
export function signalNumber(name: string): number | undefined {
  return NUMBERS.get(name);
}

/** Returns the exit code with which shells report that a signal ended a command. */
export function signalExitCode(name: string): number {
  return 128 + (signalNumber(name) ?? 0);
}

const offset = (sign: string, distance: number): string =>
  distance === 0 ? '' : `${sign}${distance}`;

function realTimeName(number: number): string {
  return number <= MIDDLE
    ? `SIGRTMIN${offset('+', number - FIRST)}`
    : `SIGRTMAX${offset('-', LAST - number)}`;
}

function tabulate(): readonly (readonly [string, number])[] {
  const known = Object.entries(constants.signals);
  const realTime = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);
  // Signals that the C library keeps for itself have a number and no name.
  const own = [32, 33].map((number) => [`SIG${number}`, number] as const);
  return [...known, ...own, ...realTime.map((number) => [realTimeName(number), number] as const)];
}

const table = tabulate();
const NUMBERS: ReadonlyMap<string, number> = new Map(table);
/** SIGIOT and SIGPOLL are second names; the first name in the table is the usual one. */
const NAMES: ReadonlyMap<number, string> = new Map(
  table.map(([name, number]) => [number, name] as const).reverse(),
);
