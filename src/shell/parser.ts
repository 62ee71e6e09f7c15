import type { ParsedScript } from 'unbash';
import { lateLibrary } from '../engine/late-library.js';

/** The library that reads shell syntax. */
export type ShellParser = typeof import('unbash');

/**
 * Loads the parser at the first call: loading takes about 15 ms, and most commands never need it.
 *
 * @throws {LaunchError} No free file descriptor is left to load the parser with.
 */
export const loadShellParser: () => Promise<ShellParser> = lateLibrary(
  'the shell parser',
  () => import('unbash'),
);

/**
 * Loads the parser ahead, for a tool that will need it. A failure is not reported here, since
 * `loadShellParser()` reports it to the caller that needs the parser.
 */
export function preloadShellParser(): void {
  loadShellParser().catch(() => {});
}

/**
 * Parses a command. Returns `undefined` for text that is not shell, or that the parser cannot read: the
 * result is only a hint, so nothing is thrown.
 */
export function parseShell(parser: ShellParser, source: string): ParsedScript | undefined {
  try {
    const script = parser.parse(source);
    // The parser guesses at broken input, and a guess is no ground to act on.
    return script.errors === undefined || script.errors.length === 0 ? script : undefined;
  } catch {
    return undefined;
  }
}
