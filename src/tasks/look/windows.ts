/** The part that a look is to show of output that is longer than fits. */
export type LookAim =
  /** The end of the output, or of the output up to a position. */
  | { readonly kind: 'end'; readonly upTo?: number }
  /** The surroundings of a line that was found; output after that is for the next look. */
  | { readonly kind: 'line'; readonly from: number; readonly cursor: number }
  /** The first output after a position, and the end. */
  | { readonly kind: 'reply'; readonly since: number };

/** A part of the output, by positions. `from` may be in the middle of a line, and `to` if it is not the end. */
export interface LookWindow {
  readonly from: number;
  readonly to: number;
  /** The part that must not be cut off at a line's beginning or end. */
  readonly core: { readonly from: number; readonly to: number };
}

/**
 * Chooses what is shown of the output from `seen` to `total`, at most `maxBytes`.
 *
 * @returns In order, without overlaps; what lies between is skipped.
 */
export function windowsOf(
  aim: LookAim,
  seen: number,
  total: number,
  maxBytes: number,
): readonly LookWindow[] {
  const whole = { from: seen, to: total, core: { from: seen, to: total } };
  if (total - seen <= maxBytes) return [whole];
  switch (aim.kind) {
    case 'end':
      return [endWindow(seen, total, maxBytes)];
    case 'line':
      return [aroundLine(aim, seen, total, maxBytes)];
    case 'reply': {
      const half = Math.floor(maxBytes / 2);
      const begin = Math.max(seen, Math.min(aim.since, total));
      // Little came before it: the end has room for all.
      if (total - begin <= maxBytes) return [endWindow(seen, total, maxBytes)];
      const to = begin + half;
      return [{ from: begin, to, core: { from: begin, to: begin } }, endWindow(to, total, half)];
    }
  }
}

function endWindow(seen: number, total: number, maxBytes: number): LookWindow {
  return { from: Math.max(seen, total - maxBytes), to: total, core: { from: total, to: total } };
}

/** A quarter before the line, half for a long line, and the rest after it. */
function aroundLine(
  { from, cursor }: LookAim & { readonly kind: 'line' },
  seen: number,
  total: number,
  maxBytes: number,
): LookWindow {
  const end = Math.min(cursor, total);
  const begin = Math.max(seen, Math.min(end, Math.max(from, end - Math.floor(maxBytes / 2))));
  const first = Math.max(seen, begin - Math.floor(maxBytes / 4));
  return { from: first, to: Math.min(total, first + maxBytes), core: { from: begin, to: end } };
}
