import type { IMarker, Terminal } from '@xterm/headless';
import type { Capture } from '../engine/outcome.js';
import { toText } from '../minimizer/numbered-text.js';
import { Turns } from '../minimizer/steps.js';
import { renderTerminal } from '../minimizer/terminal-text.js';
import type { TerminalSize } from '../options/terminal.js';
import { formatSize } from '../support/text.js';
import { createTerminal, screenText, withoutFinalBlankLines } from './emulator.js';
import { PacedWriter } from './paced-write.js';

/** Rows that are kept above the screen until they have been taken. */
const SCROLLBACK = 4000;
/** Only a hostile output asks for so much: some two seconds. What follows it is not drawn. */
const MOST_WORK = 4_000_000;
const TOO_MUCH = '[… more scrolling and erasing than is drawn:';
/** Of a block at most, between two looks; what it wraps comes to 410 more. */
const MOST_ROWS = 1500;

/**
 * What a terminal shows of raw output once all of it has been written, as plain text: without escape
 * sequences, progress bars as they were in the end, line editing as it came out. What has scrolled
 * off the screen stands above it. A full-screen program leaves nothing, unless it still ran.
 *
 * Depends on nothing but the text and the size: where it is more work than is done, a line says so.
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
    const writer = new PacedWriter(terminal, MOST_ROWS);
    const { length, ranOut } = await writer.write(raw, MOST_WORK, () => scrolled.take());
    return scrolled.finish() + (ranOut ? await withoutDrawing(raw.slice(length)) : '');
  } finally {
    terminal.dispose();
  }
}

/** Text for which no terminal was left, with a line that says so. */
async function withoutDrawing(rest: string): Promise<string> {
  if (rest === '') return `${TOO_MUCH} some of it was left out …]\n`;
  const text = toText(await new Turns().toEnd(renderTerminal(rest)));
  return `${TOO_MUCH} from here on the text alone …]\n${text}`;
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
