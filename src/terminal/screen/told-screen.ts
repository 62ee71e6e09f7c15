import type { IBuffer, IBufferLine, IMarker, Terminal } from '@xterm/headless';
import { highlightsOf } from './highlights.js';
import type { ScreenNews } from './screen-news.js';

const SAME: ScreenNews = {
  kind: 'same',
  rows: [],
  cursor: undefined,
  highlights: [],
  hasGap: false,
};

/** The text of some rows of a buffer, and where each began. */
interface Lines {
  readonly texts: string[];
  /** The first row of each line. */
  readonly starts: number[];
}

/** Follows what was told of a terminal, so that nothing is told twice. */
export class ToldScreen {
  readonly #terminal: Terminal;
  /** Marks the first row of `#told`; undefined: nothing was told, or the rows have been laid out anew. */
  #marker: IMarker | undefined;
  /** How far above the marker the told rows begin. */
  #above = 0;
  /** The told rows down to the cursor, each as it was. */
  #told: readonly string[] = [];
  #hasTold = false;
  #cursor = '';
  /** The told screen of a full-screen program. */
  #fullScreen: string | undefined;
  #lineFeeds = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    terminal.onLineFeed(() => {
      this.#lineFeeds += 1;
    });
  }

  /** Resizes the terminal, which may lay out its rows anew: what was told of them stays told. */
  resize(columns: number, rows: number): void {
    const { active } = this.#terminal.buffer;
    const isTold =
      active.type === 'normal' &&
      this.#hasTold &&
      this.#firstNew(active, active.baseY + active.cursorY).from === undefined;
    this.#terminal.resize(columns, rows);
    this.#forgetRows();
    if (isTold) this.#remember(active, active.baseY + active.cursorY);
  }

  #forgetRows(): void {
    this.#marker?.dispose();
    this.#marker = undefined;
    this.#fullScreen = undefined;
  }

  /**
   * Returns what is new, and counts it as told.
   *
   * @param isVisible Whether the program shows its cursor.
   * @param wanted `all`: also what was told.
   */
  look(isVisible: boolean, wanted: 'new' | 'all'): ScreenNews {
    if (wanted === 'all') {
      this.#forgetRows();
      this.#hasTold = false;
    }
    const { active } = this.#terminal.buffer;
    return active.type === 'normal' ? this.#lines(active, isVisible) : this.#all(active, isVisible);
  }

  #all(buffer: IBuffer, isVisible: boolean): ScreenNews {
    const rows = rowsOf(buffer, buffer.baseY, buffer.baseY + this.#terminal.rows);
    while (rows.at(-1) === '') rows.pop();
    const cursor = isVisible ? { row: buffer.cursorY + 1, column: buffer.cursorX + 1 } : undefined;
    const highlights = highlightsOf(buffer, this.#terminal);
    const look = JSON.stringify([rows, cursor, highlights]);
    if (look === this.#fullScreen) return SAME;
    this.#fullScreen = look;
    return { kind: 'screen', rows, cursor, highlights, hasGap: false };
  }

  #lines(buffer: IBuffer, isVisible: boolean): ScreenNews {
    this.#fullScreen = undefined;
    const cursorRow = buffer.baseY + buffer.cursorY;
    const { from, hasGap } = this.#firstNew(buffer, cursorRow);
    const end = lastRow(buffer, cursorRow) + 1;
    const isFirst = !this.#hasTold;
    this.#remember(buffer, cursorRow);
    if (from === undefined || (from >= end && !hasGap)) {
      return isFirst ? { ...SAME, kind: 'lines' } : SAME;
    }
    const { texts, starts } = linesOf(buffer, from, end);
    const cursor = isVisible ? cursorIn({ texts, starts }, buffer, cursorRow) : undefined;
    while (texts.at(-1) === '' && (cursor === undefined || texts.length > cursor.row)) texts.pop();
    const highlights = highlightsOf(buffer, this.#terminal);
    return { kind: 'lines', rows: texts, cursor, highlights, hasGap };
  }

  /** Returns the first row that is not as it was told; undefined: all are. */
  #firstNew(buffer: IBuffer, cursorRow: number): { from: number | undefined; hasGap: boolean } {
    const kept = buffer.length;
    const isFull = this.#lineFeeds >= kept && kept > this.#terminal.rows;
    if (!this.#hasTold) return { from: 0, hasGap: isFull && buffer.baseY > 0 };
    const marker = this.#marker;
    // The rows were erased, or have scrolled away, or are laid out anew.
    if (marker === undefined || marker.isDisposed) {
      return { from: buffer.baseY, hasGap: isFull };
    }
    const begin = marker.line - this.#above;
    const told = this.#told.findIndex((text, index) => {
      const row = begin + index;
      return row >= 0 && text !== rowText(buffer, row);
    });
    if (told !== -1) return { from: Math.min(begin + told, cursorRow), hasGap: false };
    const from = begin + this.#told.length;
    if (from <= lastRow(buffer, cursorRow)) return { from, hasGap: false };
    // Only the cursor has moved.
    const isMoved = this.#cursor !== `${cursorRow - begin} ${buffer.cursorX}`;
    return { from: isMoved ? cursorRow : undefined, hasGap: false };
  }

  #remember(buffer: IBuffer, cursorRow: number): void {
    this.#marker?.dispose();
    this.#marker = this.#terminal.registerMarker(0);
    this.#above = buffer.cursorY;
    this.#told = rowsOf(buffer, buffer.baseY, Math.max(cursorRow, lastRow(buffer, cursorRow)) + 1);
    this.#cursor = `${cursorRow - buffer.baseY} ${buffer.cursorX}`;
    this.#hasTold = true;
    this.#lineFeeds = 0;
  }
}

function rowText(buffer: IBuffer, row: number): string {
  // Programs also write blanks, up to the end of a row.
  return buffer.getLine(row)?.translateToString(true).trimEnd() ?? '';
}

function rowsOf(buffer: IBuffer, from: number, end: number): string[] {
  return Array.from({ length: Math.max(0, end - from) }, (_, index) =>
    rowText(buffer, from + index),
  );
}

/** Returns the last row with text, at least the one above the cursor. */
function lastRow(buffer: IBuffer, cursorRow: number): number {
  for (let row = buffer.length - 1; row >= cursorRow; row -= 1) {
    if (rowText(buffer, row) !== '') return row;
  }
  return buffer.cursorX > 0 ? cursorRow : cursorRow - 1;
}

/** Joins the rows of wrapped lines, from the beginning of the first one. */
function linesOf(buffer: IBuffer, from: number, end: number): Lines {
  let first = Math.max(0, from);
  while (first > 0 && buffer.getLine(first)?.isWrapped) first -= 1;
  const lines: Lines = { texts: [], starts: [] };
  for (let row = first; row < end; row += 1) {
    const line = buffer.getLine(row);
    if (line === undefined) break;
    const next = buffer.getLine(row + 1);
    const text = next?.isWrapped
      ? line.translateToString(false, 0, wrappedLength(line, next))
      : rowText(buffer, row);
    if (line.isWrapped && lines.texts.length > 0) lines.texts[lines.texts.length - 1] += text;
    else {
      lines.texts.push(text);
      lines.starts.push(row);
    }
  }
  return lines;
}

/** Returns the cursor's place among lines; undefined when it is behind all text. */
function cursorIn(
  { texts, starts }: Lines,
  buffer: IBuffer,
  cursorRow: number,
): ScreenNews['cursor'] {
  const index = starts.findLastIndex((start) => start <= cursorRow);
  if (index === -1) return undefined;
  const start = starts[index] ?? 0;
  const columns = buffer.getLine(cursorRow)?.length ?? 0;
  const isBelow = buffer.getLine(cursorRow)?.isWrapped !== true && cursorRow > start;
  const column = (isBelow ? 0 : (cursorRow - start) * columns) + buffer.cursorX;
  if (isBelow) return undefined;
  const rest = texts.slice(index + 1).some((text) => text !== '');
  // A prompt ends in a blank, which is not a part of the row's text.
  return !rest && column >= (texts[index] ?? '').trimEnd().length
    ? undefined
    : { row: index + 1, column: column + 1 };
}

/** A wide character that did not fit leaves its place at the end of the row empty. */
export function wrappedLength(line: IBufferLine, next: IBufferLine): number {
  const isEmpty = line.getCell(line.length - 1)?.getCode() === 0;
  const wide = next.getCell(0)?.getWidth() === 2;
  return line.length - (isEmpty && wide ? 1 : 0);
}
