import { formatCount } from '../support/text.js';
import { describeErrorLine } from './error-lines.js';
import type { Omission } from './filter.js';
import type { NumberedText } from './numbered-text.js';
import { findRepeats, type Repeat } from './repeats.js';
import type { LinesThatStay } from './stay/lines-that-stay.js';

/** The reason why a line is left out. */
interface Reason {
  readonly filter: string;
  readonly what: string;
}

/** Lines of a text. */
interface Rest {
  readonly indexes: readonly number[];
  readonly lines: readonly string[];
}

const SHOWN_KINDS = 3;
const BLANK = 'blank lines';
/** A single line up to this length says more than a marker would. */
const LONG_LINE = 160;
const LONGEST_WHAT = 60;

/**
 * Collects the lines that filters leave out of one text. Nothing is left out before all filters were
 * asked.
 */
export class Omissions {
  readonly #text: NumberedText;
  readonly #staying: LinesThatStay;
  readonly #reasons: (Reason | undefined)[];
  #rest: Rest | undefined;

  constructor(text: NumberedText, staying: LinesThatStay) {
    this.#text = text;
    this.#staying = staying;
    this.#reasons = new Array<Reason | undefined>(text.lines.length).fill(undefined);
  }

  /** The lines that no filter has left out yet, and their indexes. */
  get rest(): Rest {
    // Most filters leave nothing out, and the next one gets the same lines.
    this.#rest ??= this.#remaining();
    return this.#rest;
  }

  #remaining(): Rest {
    const indexes: number[] = [];
    for (const [index, reason] of this.#reasons.entries()) {
      if (reason === undefined) indexes.push(index);
    }
    return { indexes, lines: indexes.map((index) => this.#text.lines[index] ?? '') };
  }

  /**
   * Takes a filter's result for the lines at these indexes: all of it or, if it breaks a rule, nothing. Of
   * its lines those before errors and at the end stay all the same.
   *
   * @throws {TypeError} The message says which rule.
   */
  add(filter: string, rest: readonly number[], omissions: Iterable<Omission>): void {
    const found: { readonly lines: readonly number[]; readonly reason: Reason }[] = [];
    let last = 0;
    for (const { start, end, what } of omissions) {
      const fits = Number.isInteger(start) && Number.isInteger(end) && start >= last && end > start;
      if (!fits || end > rest.length) {
        throw new TypeError(`it returned lines ${start} to ${end} of ${last} to ${rest.length}`);
      }
      if (typeof what !== 'string') throw new TypeError('it did not name what it leaves out');
      const lines = rest.slice(start, end);
      const error = lines.find((index) => this.#staying.isError(index));
      if (error !== undefined) {
        const line = describeErrorLine(this.#text.lines[error] ?? '');
        throw new TypeError(`it would have left out a line about an error: ${line}`);
      }
      found.push({ lines, reason: { filter, what: oneLine(what) } });
      last = end;
    }
    if (found.length > 0) this.#rest = undefined;
    for (const { lines, reason } of found) {
      for (const index of lines) {
        if (!this.#staying.has(index)) this.#reasons[index] = reason;
      }
    }
  }

  /**
   * Returns the text with markers in place of the lines left out, where that is shorter.
   *
   * @param withRepeats Fold lines that repeat those above.
   */
  apply(withRepeats: boolean): { readonly text: NumberedText; readonly filters: string[] } {
    const { lines, numbers, endsWithNewline } = this.#text;
    const filters = new Set<string>();
    const shown: string[] = [];
    const at: number[] = [];
    const show = (line: string, index: number): void => {
      shown.push(line);
      at.push(numbers[index] ?? 0);
    };
    const showAll = (start: number, end: number): void => {
      for (let index = start; index < end; index += 1) show(lines[index] ?? '', index);
    };
    for (const { start, end, isOut } of this.#stretches()) {
      if (isOut) {
        show(this.#marker(start, end), start);
        for (const reason of this.#reasons.slice(start, end))
          if (reason) filters.add(reason.filter);
        continue;
      }
      let from = start;
      for (const repeat of withRepeats ? findRepeats(lines, start, end) : []) {
        filters.add('repeats');
        showAll(from, repeat.start);
        show(repeatMarker(repeat), repeat.start);
        from = repeat.end;
      }
      showAll(from, end);
    }
    return { text: { lines: shown, numbers: at, endsWithNewline }, filters: [...filters] };
  }

  /**
   * Yields stretches of lines left out, and those between them; a stretch that is shorter than its marker
   * stays.
   */
  *#stretches(): Generator<{ start: number; end: number; isOut: boolean }> {
    this.#joinStretches();
    const count = this.#reasons.length;
    let kept = 0;
    for (let start = 0; start < count; start += 1) {
      if (this.#reasons[start] === undefined) continue;
      let end = start;
      let length = 0;
      let bytes = 0;
      while (this.#reasons[end] !== undefined) {
        length += (this.#text.lines[end]?.length ?? 0) + 1;
        bytes += Buffer.byteLength(this.#text.lines[end] ?? '') + 1;
        end += 1;
      }
      const marker = this.#marker(start, end);
      const least = end - start === 1 ? LONG_LINE : marker.length + 1;
      // A marker has characters of several bytes.
      if (length > least && bytes > Buffer.byteLength(marker) + 1) {
        if (kept < start) yield { start: kept, end: start, isOut: false };
        yield { start, end, isOut: true };
        kept = end;
      }
      start = end;
    }
    if (kept < count) yield { start: kept, end: count, isOut: false };
  }

  /** Takes blank lines between lines left out for a part of them: one marker says more than two. */
  #joinStretches(): void {
    const { lines } = this.#text;
    let above: number | undefined;
    for (let index = 0; index < lines.length; index += 1) {
      const reason = this.#reasons[index];
      if (reason === undefined) {
        const isBlank = lines[index]?.trim() === '' && !this.#staying.has(index);
        if (!isBlank) above = undefined;
        continue;
      }
      for (let between = (above ?? index) + 1; between < index; between += 1) {
        this.#reasons[between] = { filter: reason.filter, what: BLANK };
      }
      above = index;
    }
  }

  #marker(start: number, end: number): string {
    const kinds = new Map<string, number>();
    for (const reason of this.#reasons.slice(start, end)) {
      if (reason) kinds.set(reason.what, (kinds.get(reason.what) ?? 0) + 1);
    }
    const sorted = [...kinds].sort((one, other) => other[1] - one[1]);
    const names = sorted.slice(0, SHOWN_KINDS).map(([what, count]) => {
      return kinds.size === 1 ? what : `${what} (${formatCount(count)})`;
    });
    if (sorted.length > SHOWN_KINDS) names.push('others');
    return `[… ${countOf(end - start, 'line')} left out: ${names.join(', ')} …]`;
  }
}

function repeatMarker({ start, end, period }: Repeat): string {
  const above = period === 1 ? 'line' : `${period} lines`;
  return `[… the ${above} above ${countOf((end - start) / period, 'more time')} …]`;
}

function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Cleans up a filter's words, which must not look like output of the command. */
function oneLine(what: string): string {
  const words = what.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return words.length <= LONGEST_WHAT ? words : `${words.slice(0, LONGEST_WHAT - 1)}…`;
}
