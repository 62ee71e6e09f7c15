import { type DrawnLine, DrawnLineReader } from './drawn-lines.js';

/** The pattern for a line: a piece of it, or a regular expression of the runtime. */
export type LinePattern = string | RegExp;

/** A line that matched. */
export interface FoundLine {
  /** The pattern that matched. */
  readonly pattern: LinePattern;
  /** The line in which it was found, as a person reads it; of one without end the last part. */
  readonly line: string;
  /** Where the line begins, in bytes from the start of the output. */
  readonly from: number;
  /** Where it ends, as far as it was printed: `since` of a wait for a later line. */
  readonly cursor: number;
}

/**
 * Searches output for lines as it comes, as a person reads them: without escape sequences, and each drawing
 * of a progress bar a line of its own. A line counts as soon as it matches, even if it has not ended: a
 * prompt never does. Each pattern is found once in a line.
 */
export class LineSearch {
  readonly #patterns: readonly LinePattern[];
  readonly #reader: DrawnLineReader;
  /** Patterns that were found in the frame that begins at `#in`. */
  readonly #known = new Set<LinePattern>();
  #in: number;
  #found: FoundLine[] = [];

  /** @param since Position of the first byte. */
  constructor(patterns: readonly LinePattern[], since = 0) {
    this.#patterns = patterns;
    this.#in = since;
    this.#reader = new DrawnLineReader(since, (frame) => this.#look(frame));
  }

  /** Takes output; returns the lines found in it. */
  push(bytes: Uint8Array): FoundLine[] {
    this.#found = [];
    this.#reader.push(bytes);
    return this.#found;
  }

  /** Notes that output is missing before the next push, which begins at `at`. */
  gap(at: number): void {
    this.#reader.skipTo(at);
  }

  #look({ text, from, cursor }: DrawnLine): void {
    if (from !== this.#in) this.#known.clear();
    this.#in = from;
    for (const pattern of this.#patterns) {
      if (this.#known.has(pattern) || !matches(text, pattern)) continue;
      this.#known.add(pattern);
      this.#found.push({ pattern, line: text, from, cursor });
    }
  }
}

function matches(line: string, pattern: LinePattern): boolean {
  if (typeof pattern === 'string') return line.includes(pattern);
  // A global or sticky expression remembers its last position.
  pattern.lastIndex = 0;
  return pattern.test(line);
}
