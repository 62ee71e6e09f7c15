import type { IMarker, Terminal } from '@xterm/headless';
import type { TerminalSize } from '../command/terminal.js';
import type { Capture } from '../engine/outcome.js';
import { formatSize } from '../support/text.js';
import { createTerminal, screenText, withoutFinalBlankLines } from './emulator.js';
import { PacedWriter } from './paced-write.js';

/** Rows that are kept above the screen until they have been taken. */
const SCROLLBACK = 4000;
/** Only a hostile output takes so long, in milliseconds; the rest of it is not written. */
const MOST_MS = 2000;
/**
 * Characters written at a time at most: no more rows than these can scroll off between two looks.
 */
const STEP = 2000;

/**
 * What a terminal shows of raw output once all of it has been written, as plain text: without escape
 * sequences, progress bars as they were in the end, line editing as it came out. What has scrolled
 * off the screen stands above it. A full-screen program leaves nothing, unless it still ran.
 *
 * For output of a command that had a terminal. What went through a pipe and has redrawn lines all the
 * same is for `renderTerminal()` of the minimizer, which keeps the lines' numbers.
 *
 * @param size Of the terminal in the end.
 */
export async function readableText(raw: string, size: TerminalSize): Promise<string> {
  const terminal = await createTerminal(size, SCROLLBACK);
  try {
    const scrolled = new Scrolled(terminal);
    const writer = new PacedWriter(terminal, STEP);
    const written = await writer.write(raw, MOST_MS, () => scrolled.take());
    return scrolled.finish() + withoutSequences(raw, written);
  } finally {
    terminal.dispose();
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[^\x1b])?/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/g;

/** Text from `start` on, for which there is no time on a terminal. */
function withoutSequences(raw: string, start: number): string {
  if (start >= raw.length) return '';
  const last = raw.lastIndexOf('\x1b', start - 1);
  // The terminal may have had the half of a sequence.
  const length = last === -1 ? 0 : (raw.slice(last).match(SEQUENCE)?.[0].length ?? 0);
  const rest = raw.slice(Math.max(start, last + length));
  return rest.replace(SEQUENCE, '').replace(CONTROL, '');
}

/** What a terminal shows of what was kept of an output; a line stands for what was not. */
export async function readableCapture(capture: Capture, size: TerminalSize): Promise<string> {
  if (capture.kind === 'complete') return readableText(capture.text, size);
  const gap = `[… ${formatSize(capture.dropped.bytes)} not kept …]\n`;
  // The end begins in the middle of a line, and maybe of an escape sequence.
  const tail = capture.tail.slice(capture.tail.indexOf('\n') + 1);
  return (await readableText(capture.head, size)) + gap + (await readableText(tail, size));
}

/** Takes rows as they scroll off the screen, so that memory does not grow with the output. */
class Scrolled {
  readonly #terminal: Terminal;
  readonly #taken: string[] = [];
  /** Stands at the first row that has not been taken. */
  #next: IMarker | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  take(): void {
    const { normal, active } = this.#terminal.buffer;
    // Full-screen programs draw elsewhere, and markers are made in what is active.
    if (active.type !== 'normal' || normal.baseY < SCROLLBACK / 2) return;
    this.#collect(normal.baseY);
    this.#next?.dispose();
    this.#next = this.#terminal.registerMarker(-normal.cursorY);
  }

  finish(): string {
    const { normal, alternate, active } = this.#terminal.buffer;
    this.#collect(normal.length);
    const text = withoutFinalBlankLines(this.#taken.join(''));
    if (active.type === 'normal') return text;
    return text + withoutFinalBlankLines(screenText(alternate, 0, alternate.length));
  }

  #collect(end: number): void {
    // Gone when the rows that it stood at were: then what is left is all new.
    const begin = this.#next === undefined || this.#next.isDisposed ? 0 : this.#next.line;
    this.#taken.push(screenText(this.#terminal.buffer.normal, Math.max(0, begin), end));
  }
}
