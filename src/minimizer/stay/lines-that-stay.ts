import { findErrorLines } from '../error-lines.js';

/** A line that is about an error, or belongs to one. */
const ERROR = 1;
/** Another line that stays: right before an error, or at the end of what did not end well. */
const NEAR = 2;

/**
 * The last lines, blank ones not counted, that tell why a command did not end by itself: what it was at,
 * or waited for.
 */
const LAST_LINES = 10;
const LINES_A_STEP = 5000;

/** The lines of a text that no filter may leave out. */
export class LinesThatStay {
  readonly #marks: Uint8Array;

  private constructor(marks: Uint8Array) {
    this.#marks = marks;
  }

  /**
   * The one rule of what is never left out: lines about errors with what belongs to them, the line before
   * each (what failed: a compiler's call, a task, a test), and the last lines unless the command ended
   * with exit code 0. Yields from time to time, so that the caller can let other work run.
   */
  static *find(
    lines: readonly string[],
    { endedWell }: { readonly endedWell: boolean },
  ): Generator<void, LinesThatStay> {
    const marks = yield* findErrorLines(lines);
    let above: number | undefined;
    for (let index = 0; index < lines.length; index += 1) {
      if (index % LINES_A_STEP === LINES_A_STEP - 1) yield;
      if (marks[index] === ERROR && above !== undefined && marks[above] !== ERROR) {
        marks[above] = NEAR;
      }
      if (hasText(lines[index])) above = index;
    }
    if (!endedWell) markLast(lines, marks);
    return new LinesThatStay(marks);
  }

  has(index: number | undefined): boolean {
    return index !== undefined && this.#marks[index] !== 0;
  }

  /** Whether the line is about an error, or belongs to one. */
  isError(index: number | undefined): boolean {
    return index !== undefined && this.#marks[index] === ERROR;
  }
}

function markLast(lines: readonly string[], marks: Uint8Array): void {
  let left = LAST_LINES;
  for (let index = lines.length - 1; index >= 0 && left > 0; index -= 1) {
    if (!hasText(lines[index])) continue;
    if (marks[index] !== ERROR) marks[index] = NEAR;
    left -= 1;
  }
}

function hasText(line: string | undefined): boolean {
  return line !== undefined && /\S/.test(line);
}
