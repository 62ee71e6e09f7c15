import { fstatSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { LiveProcess } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { note } from '../notes.js';

const DESCRIPTOR = 0;

/** Whether standard input is for the command: not a terminal, and not nothing. */
export function hasInput(): boolean {
  return !isatty(DESCRIPTOR) && !isNothing();
}

function isNothing(): boolean {
  try {
    const input = fstatSync(DESCRIPTOR);
    return input.isCharacterDevice() && input.rdev === statSync('/dev/null').rdev;
  } catch {
    return false;
  }
}

/**
 * Gives the command what comes on standard input, as fast as it takes it, until either ends.
 *
 * @returns Lets go of standard input.
 */
export function feed(live: Pick<LiveProcess<unknown>, 'write' | 'end'>): () => void {
  const { stdin } = process;
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    // Whoever writes there learns that nobody reads, and nothing keeps this process alive.
    stdin.destroy();
  };
  const pump = async (): Promise<void> => {
    try {
      for await (const chunk of stdin as AsyncIterable<Uint8Array>) await live.write(chunk);
    } catch (error) {
      if (!stopped && !isClosed(error)) note(`cannot read standard input: ${messageOf(error)}`);
    }
    // Who lets go of it leaves the command's input as it is.
    if (!stopped) live.end();
  };
  void pump();
  return stop;
}

/** The command has ended, or does not want to read any more: as with any pipe. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
