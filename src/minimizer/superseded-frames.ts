/** Frames that differ only in numbers and bars. */
interface FrameRun {
  readonly shape: string;
  readonly first: string;
  last: string;
  /** The frames between the first and the last, as long as they are shorter than their replacement. */
  between: string[] | undefined;
  count: number;
}

const MOST_BETWEEN = 64;

/**
 * The error lines that were overwritten in one row of a terminal. They are kept as lines of their own; of
 * a counter that is drawn again and again (`3 failed, 120 passed`), the first and the last.
 */
export class SupersededFrames {
  readonly #runs: FrameRun[] = [];

  add(text: string): void {
    const shape = shapeOf(text);
    const run = this.#runs.at(-1);
    if (run?.shape !== shape) {
      this.#runs.push({ shape, first: text, last: text, between: [], count: 1 });
      return;
    }
    if (run.last === text) return;
    if (run.count > 1) {
      run.between?.push(run.last);
      if ((run.between?.join('').length ?? 0) > MOST_BETWEEN) run.between = undefined;
    }
    run.last = text;
    run.count += 1;
  }

  get lines(): string[] {
    return this.#runs.flatMap(({ first, last, between, count }) => {
      if (count === 1) return [first];
      return [first, ...(between ?? [`[… ${count - 2} redraws like the line above …]`]), last];
    });
  }
}

/** Returns a line without its numbers, bars and spinners. */
function shapeOf(text: string): string {
  return text.replace(/\d+/g, '0').replace(/[\s.,:%=>#|/\\\-─━╸╺█▉▊▋▌▍▎▏░▒▓⠀-⣿]+/gu, ' ');
}
