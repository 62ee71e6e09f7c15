import { StringDecoder } from 'node:string_decoder';

/** The pattern for a line: a piece of it, or a regular expression of the runtime. */
export type LinePattern = string | RegExp;

/** A line that matched. */
export interface FoundLine {
  /** The pattern that matched. */
  readonly pattern: LinePattern;
  /** The line in which it was found. */
  readonly line: string;
}

/** The most characters of a line that are examined. */
const LONGEST_LINE = 16 * 1024;

/**
 * Searches output for lines as it comes. A line counts as soon as it matches, even if it has not ended: a
 * prompt never does. Each pattern is found once in a line.
 */
export class LineSearch {
  readonly #patterns: readonly LinePattern[];
  #decoder = new StringDecoder('utf8');
  #line = '';
  /** Patterns that were found in the current line. */
  #found = new Set<LinePattern>();

  constructor(patterns: readonly LinePattern[]) {
    this.#patterns = patterns;
  }

  /** Takes output; returns the lines found in it. */
  push(bytes: Uint8Array): FoundLine[] {
    const lines = this.#decoder.write(Buffer.from(bytes)).split('\n');
    return lines.flatMap((text, index) => {
      if (index > 0) this.#begin();
      this.#line = (this.#line + text).slice(0, LONGEST_LINE);
      return this.#look();
    });
  }

  /** Notes that output is missing before the next push. */
  gap(): void {
    this.#decoder = new StringDecoder('utf8');
    this.#begin();
  }

  #begin(): void {
    this.#line = '';
    this.#found.clear();
  }

  #look(): FoundLine[] {
    const line = this.#line.replace(/\r$/, '');
    const found = this.#patterns.filter(
      (pattern) => !this.#found.has(pattern) && matches(line, pattern),
    );
    for (const pattern of found) this.#found.add(pattern);
    return found.map((pattern) => ({ pattern, line }));
  }
}

function matches(line: string, pattern: LinePattern): boolean {
  if (typeof pattern === 'string') return line.includes(pattern);
  // A global or sticky expression remembers its last position.
  pattern.lastIndex = 0;
  return pattern.test(line);
}
