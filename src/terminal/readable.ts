import type { IMarker, Terminal } from '@xterm/headless';
import type { Capture } from '../engine/outcome.js';
import { toText } from '../minimizer/numbered-text.js';
import { Turns } from '../minimizer/steps.js';
import { renderTerminal } from '../minimizer/terminal-text.js';
import type { TerminalSize } from '../options/terminal.js';
import { formatSize } from '../support/text.js';
import { createTerminal, screenText, withoutFinalBlankLines } from './emulator.js';
import { PacedWriter } from './paced-write.js';

/** Rows that are kept above the screen until they are collected. */
const SCROLLBACK = 4000;
/** The work, some two seconds, that only hostile output asks for. Text after it is not drawn. */
const MOST_WORK = 4_000_000;
const TOO_MUCH = '[… more scrolling and erasing than is drawn:';
/** The most rows of a block between two collections; wrapped lines add at most 410 more. */
const MOST_ROWS = 1500;

/**
 * Returns raw output as a terminal shows it once all of it has been written, as plain text: without
 * escape sequences, with progress bars and edited lines in their final state. Rows that have scrolled off
 * the screen stand above it. A full-screen program leaves nothing, unless it still ran.
 *
 * Depends only on the text and the size: where it is more work than allowed, a line says so.
 *
 * For output of a command that had a terminal. Output on a pipe with redrawn lines is for
 * `renderTerminal()` of the minimizer, which keeps the lines' numbers.
 *
 * @param size The size of the terminal at the end.
 */
export async function readableText(raw: string, size: TerminalSize): Promise<string> {
  const terminal = await createTerminal(size, SCROLLBACK);
  try {
    const scrolled = new ScrolledRows(terminal);
    const writer = new PacedWriter(terminal, MOST_ROWS);
    const { length, ranOut } = await writer.write(raw, MOST_WORK, () => scrolled.take());
    return scrolled.finish() + (ranOut ? await withoutDrawing(raw.slice(length)) : '');
  } finally {
    terminal.dispose();
  }
}

/** Returns text that was not drawn, since no work was left, with a line that says so. */
async function withoutDrawing(rest: string): Promise<string> {
  if (rest === '') return `${TOO_MUCH} some of it was left out …]\n`;
  const text = toText(await new Turns().toEnd(renderTerminal(rest)));
  return `${TOO_MUCH} from here on the text alone …]\n${text}`;
}

/** Returns a kept capture as a terminal shows it; a line stands for the part that was not kept. */
export async function readableCapture(capture: Capture, size: TerminalSize): Promise<string> {
  if (capture.kind === 'complete') return readableText(capture.text, size);
  const gap = `[… ${formatSize(capture.dropped.bytes)} not kept …]\n`;
  // The tail begins in the middle of a line, and maybe of an escape sequence.
  const tail = capture.tail.slice(capture.tail.indexOf('\n') + 1);
  return (await readableText(capture.head, size)) + gap + (await readableText(tail, size));
}

/** Collects rows as they scroll off the screen, so that memory does not grow with the output. */
class ScrolledRows {
  readonly #terminal: Terminal;
  readonly #taken: string[] = [];
  /** A marker at the first row that has not been collected. */
  #next: IMarker | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  take(): void {
    const { normal, active } = this.#terminal.buffer;
    // Full-screen programs draw on another buffer, and markers are made in the active one.
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
    // The marker is disposed of with its row: then all remaining rows are new.
    const begin = this.#next === undefined || this.#next.isDisposed ? 0 : this.#next.line;
    this.#taken.push(screenText(this.#terminal.buffer.normal, Math.max(0, begin), end));
  }
}
