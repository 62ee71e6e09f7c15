import type { ParsedScript } from 'unbash';
import { lateLibrary } from '../engine/late-library.js';

/** The library that reads shell syntax. */
export type ShellParser = typeof import('unbash');

/**
 * Loads the parser, at the first call and not before: it takes about 15 ms, and most commands never
 * need it.
 *
 * @throws {LaunchError} There are no descriptors to load it with.
 */
export const loadShellParser: () => Promise<ShellParser> = lateLibrary(
  'the shell parser',
  () => import('unbash'),
);

/** For a tool that will need it: later there may be no descriptors, and what fails then says so. */
export function preloadShellParser(): void {
  loadShellParser().catch(() => {});
}

/**
 * Reads a command. Nothing that follows from the result may be more than help, so there are no
 * errors: what is not shell, or what the parser cannot read, is `undefined`.
 */
export function parseShell(parser: ShellParser, source: string): ParsedScript | undefined {
  try {
    const script = parser.parse(source);
    // It makes the best of broken input, but a guess is no ground to act on.
    return script.errors === undefined || script.errors.length === 0 ? script : undefined;
  } catch {
    return undefined;
  }
}
