/** Lines that repeat the `period` lines above them. */
export interface Repeat {
  readonly start: number;
  readonly end: number;
  readonly period: number;
}

const MOST_LINES_OF_A_BLOCK = 6;
/** Length of a marker in characters; a shorter repeat stays. */
const MARKER_LENGTH = 56;

/**
 * Finds lines and blocks of lines from `start` to `end` that are repeated at once, by ascending indexes
 * and without overlaps.
 */
export function* findRepeats(
  lines: readonly string[],
  start: number,
  end: number,
): Generator<Repeat> {
  const ids = numbered(lines, start, end);
  let at = 0;
  while (at < ids.length) {
    const repeat = repeatAt(ids, lines, start, at);
    if (repeat !== undefined) {
      yield { start: start + repeat.start, end: start + repeat.end, period: repeat.period };
    }
    at = repeat?.end ?? at + 1;
  }
}

/** Gives equal lines equal numbers, which are fast to compare. */
function numbered(lines: readonly string[], start: number, end: number): Int32Array {
  const ids = new Map<string, number>();
  return Int32Array.from({ length: end - start }, (_, index) => {
    const line = lines[start + index] ?? '';
    let id = ids.get(line);
    if (id === undefined) {
      id = ids.size;
      ids.set(line, id);
    }
    return id;
  });
}

function repeatAt(
  ids: Int32Array,
  lines: readonly string[],
  offset: number,
  at: number,
): Repeat | undefined {
  for (let period = 1; period <= MOST_LINES_OF_A_BLOCK; period += 1) {
    const first = at + period;
    let end = first;
    while (end < ids.length && ids[end] === ids[end - period]) end += 1;
    end -= (end - first) % period;
    if (end === first) continue;
    let length = 0;
    for (let index = first; index < end && length <= MARKER_LENGTH; index += 1) {
      length += (lines[offset + index]?.length ?? 0) + 1;
    }
    if (length > MARKER_LENGTH) return { start: first, end, period };
  }
  return undefined;
}
