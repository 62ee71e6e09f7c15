/** Lines that a filter leaves out. */
export interface Omission {
  /** Index of the first line, counted from 0. */
  readonly start: number;
  /** Index of the line after the last one. */
  readonly end: number;
  /** A few words for the lines in the marker, `[… 12 lines left out: downloads …]`. */
  readonly what: string;
}

/**
 * Tells which lines of an output are noise. A filter only points at lines: the minimizer adds markers and
 * counts, and makes sure that no line about an error is left out, nor the line before it, nor the last
 * lines of a command that did not end with exit code 0.
 */
export interface OutputFilter {
  /** Name of the filter in details and warnings. */
  readonly name: string;
  /** Returns whether the filter is for the output of this shell command. Default: for every command. */
  readonly applies?: (command: string) => boolean;
  /**
   * Returns the lines to leave out: by ascending indexes, without overlaps. The lines have no escape
   * sequences, and those that earlier filters left out are not among them.
   *
   * `mustStay` tells which lines are never left out, by their indexes. If the filter throws, returns
   * something else, or points at a line about an error, its whole result for this output is ignored, and
   * the logger is told once; other lines that must stay just stay.
   */
  filter(lines: readonly string[], mustStay: (index: number) => boolean): Iterable<Omission>;
}
