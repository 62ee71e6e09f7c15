import type { Pattern } from './pattern.js';

const SPARE_PLACES = 256;

/** Partial match of a pattern: its first characters have been found. */
export class PartialMatch {
  /** Length of its part of `places`, which copies share until one of them needs to differ. */
  #size: number;
  /** Number of gap characters since the last one that was found. */
  gaps = 0;

  /**
   * @param found Number of characters found.
   * @param places Their start and end in turn; there may be older ones before.
   * @param at Position of the next character.
   * @param floor Nothing before this position is to be replaced.
   */
  constructor(
    readonly pattern: Pattern,
    public found: number,
    public places: number[],
    public at: number,
    public floor: number,
  ) {
    this.#size = places.length;
  }

  /** Position of the first character. */
  get begin(): number {
    return this.places[this.#size - 2 * this.found] ?? this.at;
  }

  copy(): PartialMatch {
    const copy = new PartialMatch(this.pattern, this.found, this.places, this.at, this.floor);
    copy.#size = this.#size;
    copy.gaps = this.gaps;
    return copy;
  }

  /** Tells whether this one, should it fail, falls back to the other one. */
  includes(other: PartialMatch): boolean {
    if (this.pattern !== other.pattern || this.at !== other.at) return false;
    if (this.found === other.found) return this.begin <= other.begin;
    let found = this.found;
    while (found > other.found) found = this.pattern.borders[found] ?? 0;
    return found === other.found;
  }

  /** Counts the characters found with one more, from this beginning or from a later one. */
  foundWith(code: number): number {
    const { codes, borders, canonical } = this.pattern;
    const next = canonical[code];
    let found = this.found;
    while (found > 0 && codes[found] !== next) found = borders[found] ?? 0;
    return codes[found] === next ? found + 1 : 0;
  }

  /** Adds a character, with which `found` are found. */
  add(start: number, end: number, found: number): void {
    const size = this.#size;
    if (this.places.length > size || size > 4 * this.found + SPARE_PLACES) {
      this.places = this.places.slice(size - 2 * this.found, size);
    }
    this.#size = this.places.push(start, end);
    this.gaps = 0;
    this.found = found;
  }
}
