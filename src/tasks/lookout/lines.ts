import { StringDecoder } from 'node:string_decoder';

/** What a line is looked for by: a piece of it, or an expression of the runtime's own. */
export type LinePattern = string | RegExp;

/** A line that was looked for. */
export interface FoundLine {
  /** What was looked for. */
  readonly pattern: LinePattern;
  /** The line that it was found in. */
  readonly line: string;
}

/** As much of a line is looked at, in characters. */
const LONGEST_LINE = 16 * 1024;

/**
 * Looks for lines in output as it comes. A line counts as soon as it matches, although it has not
 * ended: a prompt never does. It is found once.
 */
export class LineSearch {
  readonly #patterns: readonly LinePattern[];
  #decoder = new StringDecoder('utf8');
  #line = '';
  /** Those that the line has been found for already. */
  #found = new Set<LinePattern>();

  constructor(patterns: readonly LinePattern[]) {
    this.#patterns = patterns;
  }

  /** Takes output; gives back what it has completed. */
  push(bytes: Uint8Array): FoundLine[] {
    const lines = this.#decoder.write(Buffer.from(bytes)).split('\n');
    return lines.flatMap((text, index) => {
      if (index > 0) this.#begin();
      this.#line = (this.#line + text).slice(0, LONGEST_LINE);
      return this.#look();
    });
  }

  /** What comes next does not follow what came before. */
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
  // One that is global or sticky remembers where it was.
  pattern.lastIndex = 0;
  return pattern.test(line);
}
