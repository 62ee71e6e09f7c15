/** The part of an output that one program printed, known by what it prints first and last. */
export interface Section {
  /** Matches the first line: a header. */
  readonly begins?: RegExp;
  /** Matches a line of the summary at the end. */
  readonly ends?: RegExp;
  /** Matches a line that is in no such section: what is above it is not of the section below. */
  readonly breaks?: RegExp;
  /** Whether the header alone does not tell the program: without a summary there is no section. */
  readonly mustEnd?: boolean;
}

/** Longer lines are no headers. */
const LONGEST_LINE = 500;

/**
 * Marks the lines within sections: from each header to the next summary. Where the beginning of an output
 * is missing, a summary without a header has all above it, up to the section before; a header without a
 * summary, of a run that was ended, all below it, unless it `mustEnd`.
 */
export function markSections(
  lines: readonly string[],
  { begins, ends, breaks, mustEnd = false }: Section,
): Uint8Array {
  const marks = new Uint8Array(lines.length);
  let last = 0;
  let begin: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.length > LONGEST_LINE) continue;
    if (ends?.test(line) === true) {
      marks.fill(1, begin ?? last, index + 1);
      begin = undefined;
      last = index + 1;
    } else if (breaks?.test(line) === true) {
      begin = undefined;
      last = index + 1;
    } else if (begin === undefined && begins?.test(line) === true) {
      begin = index;
    }
  }
  if (begin !== undefined && !mustEnd) marks.fill(1, begin);
  return marks;
}
