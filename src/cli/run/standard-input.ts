import { fstatSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { LiveProcess } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { note } from '../notes.js';

const DESCRIPTOR = 0;

/** Returns whether standard input is meant for the command: it is no terminal, and not closed. */
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
 * Passes standard input to the command, as fast as the command takes it, until either ends.
 *
 * @returns Stops reading standard input.
 */
export function feed(live: Pick<LiveProcess<unknown>, 'write' | 'end'>): () => void {
  const { stdin } = process;
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    // The writer at the other end gets EPIPE, and nothing keeps this process alive.
    stdin.destroy();
  };
  const pump = async (): Promise<void> => {
    try {
      for await (const chunk of stdin as AsyncIterable<Uint8Array>) await live.write(chunk);
    } catch (error) {
      if (!stopped && !isClosed(error)) note(`cannot read standard input: ${messageOf(error)}`);
    }
    // After a stop the command's input stays open.
    if (!stopped) live.end();
  };
  void pump();
  return stop;
}

/** Returns whether the command has ended, or has closed its input, as any reader of a pipe may. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
