/**
 * Makes the message for an unknown name: `minimiser: not known here, did you mean minimizer?`, or the
 * list of all names where none is similar.
 */
export function unknownName(name: string, known: readonly string[], within = ''): string {
  const near = nearestName(name, known);
  const advice =
    near === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${near}?`;
  return `${within}${shown(name)}: not known here, ${advice}`;
}

const LONGEST_NAME = 60;

/** Formats a name that the caller gave, on one line and not too long. */
function shown(name: string): string {
  if (/^[\w.-]{1,60}$/.test(name)) return name;
  return JSON.stringify(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);
}

/** Returns the known name that was probably meant; undefined when none is similar. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const plain = simplified(name);
  const longer = known.filter((each) => plain !== '' && simplified(each).startsWith(plain));
  if (longer.length === 1) return longer[0];
  const farthest = Math.max(1, Math.floor(plain.length / 3));
  const distances = known.map((each) => distance(plain, simplified(each)));
  const least = Math.min(...distances);
  return least <= farthest ? known[distances.indexOf(least)] : undefined;
}

/** Removes case, `_` and `-`, so that `timeout_ms` and `timeoutMS` match `timeoutMs`. */
function simplified(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** Counts the letters that must be changed, added, removed or swapped with their neighbour. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = above;
    above = current;
  }
  return above[other.length] ?? 0;
}
