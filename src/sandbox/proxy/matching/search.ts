import { BEGINS_ESCAPE, charactersAt, type Excerpt } from './escapes.js';
import { PartialMatch } from './partial-match.js';
import { Gap, MOST_GAPS, type Pattern } from './pattern.js';
import type { Patterns } from './patterns.js';
import { mayBeEscape } from './sieve.js';

/** A text that was found. */
export interface Match {
  readonly pattern: Pattern;
  /** Start and end in turn of its last characters, those that are to be replaced. */
  readonly places: readonly number[];
  /** Position of its first character. */
  readonly begin: number;
  /** Start of what is to be replaced: later than `begin` if it overlaps an earlier match. */
  readonly start: number;
  /** End of what is to be replaced. */
  readonly end: number;
}

/**
 * Fewest characters before a line break that are kept back. Any line may end with one or two characters that
 * begin a text, and is to arrive before the next line comes.
 */
const FEWEST_WAITED_FOR = 4;

/**
 * Finds patterns in a stream of bytes, however it is divided into chunks. The leftmost match comes first, of
 * those that begin together the longest one, and of matches that overlap it the rest. Every pattern is matched
 * by the algorithm of Knuth, Morris and Pratt over the characters, with one partial match for each way to read
 * the escapes: time is linear, memory bounded.
 */
export class Search {
  readonly #patterns: Patterns;
  #partials: PartialMatch[] = [];
  #matches: Match[] = [];
  #at = 0;
  /** End of the last match. */
  #floor = 0;
  /** By pattern: the position where partial matches of it were last advanced. */
  readonly #advancedAt: Float64Array;

  constructor(patterns: Patterns) {
    this.#patterns = patterns;
    this.#advancedAt = new Float64Array(patterns.all.length).fill(-1);
  }

  /** End of what can be sent on, once {@link next} has returned all matches. */
  get decided(): number {
    const starts = [
      ...this.#partials.map((one) => Math.max(one.begin, one.floor)),
      ...this.#matches.map(({ start }) => start),
    ];
    return starts.reduce((least, start) => Math.min(least, start), this.#at);
  }

  /**
   * Returns the next match, or undefined if there is none in what has come.
   *
   * @param excerpt All bytes from `decided` on.
   */
  next(excerpt: Excerpt): Match | undefined {
    const { bytes, offset, isLast } = excerpt;
    const { hasEscapes } = this.#patterns;
    for (;;) {
      const settled = this.#settled();
      if (settled !== undefined) return settled;
      if (this.#partials.length === 0) this.#skip(excerpt);
      const index = this.#at - offset;
      const byte = bytes[index];
      if (byte === undefined) break;
      if (hasEscapes && BEGINS_ESCAPE[byte] === 1 && mayBeEscape(bytes, index)) {
        const characters = charactersAt(excerpt, this.#at);
        if (characters === undefined) return undefined;
        for (const { code, end } of characters) this.#advance(code, end, characters.length > 1);
        this.#prune();
        for (const { code, end } of characters) this.#begin(bytes, index, code, end);
      } else {
        this.#advance(byte, this.#at + 1, false);
        this.#prune();
        this.#begin(bytes, index, byte, this.#at + 1);
      }
      this.#at += 1;
    }
    if (isLast) this.#partials = [];
    return this.#settled();
  }

  #skip({ bytes, offset }: Excerpt): void {
    const { isBeginning, sieve } = this.#patterns;
    let index = this.#at - offset;
    while (
      index < bytes.length &&
      (isBeginning[bytes[index] ?? 0] === 0 || !sieve.mayBegin(bytes, index))
    ) {
      index += 1;
    }
    this.#at = offset + index;
  }

  /** Advances partial matches at the current position by a character; copies, if it is one of several. */
  #advance(code: number, end: number, isOneOfMore: boolean): void {
    const all = this.#partials;
    const count = all.length;
    for (let index = 0; index < count; index += 1) {
      const one = all[index];
      if (one === undefined || one.at !== this.#at) continue;
      const { pattern } = one;
      this.#advancedAt[pattern.index] = this.#at;
      const gap = pattern.gaps[code] ?? Gap.none;
      const found = gap === Gap.none ? one.foundWith(code) : one.found;
      if (found === 0 || (gap !== Gap.none && one.gaps >= MOST_GAPS[pattern.encoding])) continue;
      const partial = isOneOfMore ? one.copy() : one;
      if (gap === Gap.none) this.#extend(partial, found, end);
      else {
        partial.gaps += 1;
        const isLeft = gap === Gap.space && found < FEWEST_WAITED_FOR;
        if (isLeft) partial.floor = Math.max(partial.floor, end);
      }
      partial.at = partial.found === 0 ? this.#at : end;
      if (isOneOfMore && partial.found > 0) all.push(partial);
    }
  }

  #extend(partial: PartialMatch, found: number, end: number): void {
    const { pattern, floor } = partial;
    partial.add(this.#at, end, found);
    if (found < pattern.codes.length) return;
    this.#matches.push(matchOf(pattern, partial.places, floor));
    partial.found = pattern.borders[found] ?? 0;
  }

  /** Drops partial matches that have failed, and those that others include. */
  #prune(): void {
    const all = this.#partials;
    let kept = 0;
    for (const partial of all) {
      if (partial.at <= this.#at) continue;
      let isKept = true;
      for (let index = 0; index < kept && isKept; index += 1) {
        const other = all[index];
        if (other?.includes(partial)) isKept = false;
        else if (other && partial.includes(other)) {
          all[index] = partial;
          isKept = false;
        }
      }
      if (isKept) {
        all[kept] = partial;
        kept += 1;
      }
    }
    all.length = kept;
  }

  #begin(bytes: Buffer, index: number, code: number, end: number): void {
    const { beginning, sieve } = this.#patterns;
    const begun = beginning[code];
    if (begun === undefined || begun.length === 0 || !sieve.mayBegin(bytes, index)) return;
    for (const pattern of begun) {
      // Those that were advanced fall back to this beginning by themselves.
      if (this.#advancedAt[pattern.index] === this.#at) continue;
      this.#partials.push(new PartialMatch(pattern, 1, [this.#at, end], end, this.#floor));
    }
  }

  /** Returns the leftmost match, unless a partial match that began no later is still open. */
  #settled(): Match | undefined {
    if (this.#matches.length === 0) return undefined;
    const first = this.#matches.reduce((best, match) =>
      match.begin < best.begin || (match.begin === best.begin && match.end > best.end)
        ? match
        : best,
    );
    if (this.#partials.some((partial) => partial.begin <= first.begin)) return undefined;
    this.#floor = first.end;
    this.#matches = this.#matches
      .filter(({ end }) => end > first.end)
      .map((match) => ({ ...match, start: Math.max(match.start, first.end) }));
    for (const one of this.#partials) one.floor = Math.max(one.floor, first.end);
    return first;
  }
}

function matchOf(pattern: Pattern, places: readonly number[], floor: number): Match {
  const first = places.length - 2 * pattern.codes.length;
  let kept = places.length - 2;
  while (kept > first && (places[kept - 1] ?? 0) > floor) kept -= 2;
  const begin = places[first] ?? 0;
  const start = Math.max(begin, floor);
  return { pattern, places: places.slice(kept), begin, start, end: places.at(-1) ?? 0 };
}
