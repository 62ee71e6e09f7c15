import { isErrorLine } from './error-lines.js';
import { SupersededFrames } from './superseded-frames.js';

/** A row of output. */
class Row {
  /** The source's line on which the row began, counted from 1. */
  readonly line: number;
  /** Whether a part of the row was overwritten. */
  isRedrawn = false;
  #text = '';
  /** The row's characters, once one of them was overwritten: a string would be copied each time. */
  #cells: string[] | undefined;
  #superseded: SupersededFrames | undefined;
  readonly #mostKeptWhole: number;

  constructor(line: number, mostKeptWhole: number) {
    this.line = line;
    this.#mostKeptWhole = mostKeptWhole;
  }

  get text(): string {
    return this.#cells === undefined ? this.#text : this.#cells.join('');
  }

  get length(): number {
    return this.#cells?.length ?? this.#text.length;
  }

  charAt(column: number): string {
    return (this.#cells === undefined ? this.#text[column] : this.#cells[column]) ?? '';
  }

  write(column: number, text: string): void {
    if (column < this.length) this.#overwrite(column, text);
    else if (this.#cells === undefined) this.#text += text;
    else for (let at = 0; at < text.length; at += 1) this.#cells.push(text[at] ?? '');
  }

  /** Begins a new frame: removes the row's text, but keeps it as a line if it is about an error. */
  supersede(): void {
    if (this.length === 0) return;
    const { text } = this;
    if (isErrorLine(text)) this.keep([text]);
    this.#cells = undefined;
    this.#text = '';
    this.isRedrawn = true;
  }

  /** Erases the row from the column on. */
  truncate(column: number): void {
    if (column === 0) this.supersede();
    if (column >= this.length) return;
    const cells = this.#toCells();
    this.#keepIfError(cells, column, this.length);
    if (isSecondUnit(cells[column])) cells[column - 1] = ' ';
    cells.length = column;
    this.isRedrawn = true;
  }

  keep(lines: readonly string[]): void {
    this.#superseded ??= new SupersededFrames();
    for (const line of lines) this.#superseded.add(line);
  }

  /** The lines that the row comes to: overwritten error lines, then its last frame. */
  get lines(): string[] {
    const { text } = this;
    // A row that was wiped counts as no line.
    const isWiped = this.isRedrawn && text.trim() === '';
    if (this.#superseded === undefined) return isWiped ? [] : [text];
    if (!isErrorLine(text)) return [...this.#superseded.lines, ...(isWiped ? [] : [text])];
    this.#superseded.add(text);
    return this.#superseded.lines;
  }

  /** The row's lines about errors, for a row that is erased. */
  get errorLines(): string[] {
    if (isErrorLine(this.text)) return this.lines;
    return this.#superseded?.lines ?? [];
  }

  #overwrite(column: number, text: string): void {
    const cells = this.#toCells();
    // A single character is no error, and is how spinners turn.
    const end = column + text.length;
    if (text.length > 1) this.#keepIfError(cells, column, end);
    // Characters of two units are overwritten as a whole.
    if (isSecondUnit(cells[column])) cells[column - 1] = ' ';
    if (isSecondUnit(cells[end])) cells[end] = '';
    for (let at = 0; at < text.length; at += 1) cells[column + at] = text[at] ?? '';
    this.isRedrawn = true;
  }

  /**
   * Keeps a line about an error that is overwritten. Examines only the overwritten part, so that this
   * takes no longer than writing it did.
   */
  #keepIfError(cells: readonly string[], from: number, to: number): void {
    const first = isSecondUnit(cells[from]) ? from + 1 : from;
    const end = isSecondUnit(cells[to]) ? to - 1 : to;
    const gone = cells.slice(first, end).join('');
    if (!isErrorLine(gone)) return;
    this.keep([this.length <= this.#mostKeptWhole ? this.text : gone]);
  }

  #toCells(): string[] {
    this.#cells ??= this.#text.split('');
    return this.#cells;
  }
}

/** Returns whether a cell is the second unit of a character outside the basic plane. */
function isSecondUnit(cell: string | undefined): boolean {
  return cell !== undefined && cell >= '\uDC00' && cell <= '\uDFFF';
}

/** The longest row that is kept whole; of a longer row, only the overwritten part is kept. */
const MOST_KEPT_WHOLE = 400;
/** The number of rows that the cursor can move up: no terminal here has more. */
const HEIGHT = 200;

/**
 * A terminal of which only the text matters: endless rows of endless length, and a cursor. Where a row is
 * drawn again from its beginning, its last frame that is not empty is shown; one about an error is never
 * overwritten, but kept as a line before it. Moving the cursor to an absolute row or clearing the screen
 * removes nothing: later text comes below.
 */
export class TerminalScreen {
  readonly #rows: Row[];
  readonly #mostKeptWhole: number;
  #at = 0;
  #column = 0;
  /** Whether the next text in this row begins a new frame. */
  #isAtFrame = false;
  /** Whether cells were skipped, for which a blank is written. */
  #gap = false;
  #line = 1;

  /**
   * @param kept How much of a row is kept when an error in a part of it is overwritten: the whole row, so
   * that a reader sees what the error is about, or the part, which cannot make the text longer.
   */
  constructor(kept: 'row' | 'part') {
    this.#mostKeptWhole = kept === 'row' ? MOST_KEPT_WHOLE : 0;
    this.#rows = [new Row(1, this.#mostKeptWhole)];
  }

  /** Writes text without controls other than tabs. */
  write(text: string): void {
    const row = this.#row;
    if (this.#isAtFrame) {
      row.supersede();
      this.#isAtFrame = false;
    }
    this.#column = Math.min(this.#column, row.length);
    if (this.#gap && row.length > 0 && row.charAt(row.length - 1) !== ' ') {
      row.write(row.length, ' ');
      this.#column = row.length;
    }
    this.#gap = false;
    row.write(this.#column, text);
    this.#column += text.length;
  }

  /** @param ends A line of the source, or only a row. */
  newline(ends: 'line' | 'row'): void {
    if (ends === 'line') this.#line += 1;
    if (this.#at === this.#rows.length - 1) {
      this.#rows.push(new Row(this.#line, this.#mostKeptWhole));
    }
    this.#at += 1;
    this.return();
  }

  return(): void {
    this.#column = 0;
    this.#gap = false;
    this.#isAtFrame = this.#row.length > 0;
  }

  back(count: number): void {
    let column = Math.max(0, Math.min(this.#column, this.#row.length) - count);
    // The cursor does not stop inside a character outside the basic plane.
    if (column > 0 && isSecondUnit(this.#row.charAt(column))) column -= 1;
    this.#column = column;
  }

  left(count: number): void {
    this.back(count);
    if (this.#column === 0) this.return();
  }

  toColumn(column: number): void {
    if (column <= 0) {
      this.return();
      return;
    }
    this.#isAtFrame = false;
    this.#gap = column > this.#row.length;
    this.#column = Math.min(column, this.#row.length);
  }

  forward(count: number): void {
    this.toColumn(this.#column + count);
  }

  vertical(rows: number): void {
    const last = this.#rows.length - 1;
    this.#at = Math.max(0, last - HEIGHT, Math.min(last, this.#at + rows));
    if (this.#column === 0) this.return();
  }

  /** Moves to the beginning of a row further down or, if `rows` is below 0, up. */
  toRow(rows: number): void {
    this.vertical(rows);
    this.return();
  }

  eraseLine(mode: number): void {
    const row = this.#row;
    if (mode === 2 || (mode === 1 && this.#column >= row.length)) row.truncate(0);
    else if (mode === 0) row.truncate(this.#isAtFrame ? 0 : this.#column);
    this.#column = Math.min(this.#column, row.length);
    this.#isAtFrame &&= row.length > 0;
  }

  eraseBelow(): void {
    this.eraseLine(0);
    for (const row of this.#rows.splice(this.#at + 1)) this.#row.keep(row.errorLines);
  }

  /** Moves the cursor below all existing rows. */
  startBelow(): void {
    this.#at = this.#rows.length - 1;
    this.#column = 0;
    this.#isAtFrame = false;
    if (this.#row.length > 0) this.newline('row');
  }

  /** Returns every line, with the source's line on which it began. */
  lines(): { readonly texts: string[]; readonly numbers: number[] } {
    const texts: string[] = [];
    const numbers: number[] = [];
    for (const row of this.#rows) {
      for (const text of row.lines) {
        texts.push(text);
        numbers.push(row.line);
      }
    }
    return { texts, numbers };
  }

  get #row(): Row {
    const row = this.#rows[this.#at];
    if (row === undefined) throw new RangeError(`no row ${this.#at} of ${this.#rows.length}`);
    return row;
  }
}
