import { readFileSync } from 'node:fs';
import { startTimer } from '../../support/timing.js';
import { clearStatus, showStatus } from '../notes.js';

/** The silence after which the line is shown, in milliseconds. */
const PATIENCE_MS = 10_000;
const TICK_MS = 1000;
const NEWLINE = 0x0a;

/** Shows the user at the terminal how long a silent command has been running. */
export class WaitingLine {
  readonly #started = performance.now();
  #stopTimer = (): void => {};
  /** Whether the command has left the cursor inside a line, which must not be wiped. */
  #insideLine = false;
  /** Whether the user is asked something, whose line must not be wiped either. */
  #isAsking = false;

  constructor() {
    if (process.stderr.isTTY) this.#wait(PATIENCE_MS);
  }

  /** Removes the line, since output is about to be printed. */
  printing(bytes: Uint8Array): void {
    this.stop();
    if (!process.stderr.isTTY) return;
    this.#insideLine = process.stdout.isTTY && bytes.at(-1) !== NEWLINE;
    this.#wait(PATIENCE_MS);
  }

  /** Shows no line while the user is asked something. */
  asking(isAsking: boolean): void {
    this.#isAsking = isAsking;
    clearStatus();
  }

  stop(): void {
    this.#stopTimer();
    clearStatus();
  }

  #wait(ms: number): void {
    this.#stopTimer = startTimer(ms, () => {
      if (!this.#insideLine && !this.#isAsking && isInForeground()) {
        showStatus(`still running, ${elapsed(performance.now() - this.#started)}`);
      }
      this.#wait(TICK_MS);
    });
  }
}

/** Describes a time: 75 seconds as `1 min 15 s`. */
function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

/**
 * Returns whether this process is in the foreground: in the background the terminal's last line is the
 * shell's prompt.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // Fields after the name: state, parent, group, session, terminal, the terminal's foreground group.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[2] === fields[5];
  } catch {
    return true;
  }
}
