/** Lines that a filter leaves out. */
export interface Omission {
  /** Number of the first, counted from 0. */
  readonly start: number;
  /** Number of the one after the last. */
  readonly end: number;
  /** What they are, a few words: they stand in the marker, `[… 12 lines left out: downloads …]`. */
  readonly what: string;
}

/**
 * Says what of an output is noise. A filter only points at lines: markers, counts and the promise
 * that no line about an error is left out are the minimizer's.
 */
export interface OutputFilter {
  /** What it is called in details and warnings. */
  readonly name: string;
  /** Whether it is for the output of this shell command. Default: of every one. */
  readonly applies?: (command: string) => boolean;
  /**
   * What to leave out of these lines: by ascending indexes, without overlaps. They have no escape
   * sequences, and those that earlier filters left out are not among them.
   *
   * `mustStay` tells which are about errors, by their indexes. If the filter throws, returns something else, or points at a line about an error, nothing of what it
   * says of this output counts, and the logger is told once.
   */
  filter(lines: readonly string[], mustStay: (index: number) => boolean): Iterable<Omission>;
}
