import type { IBuffer, IBufferCell } from '@xterm/headless';

/** The most texts that are told, and characters of one. More of them are the program's design. */
const MOST_TEXTS = 4;
const LONGEST = 80;
/** The largest part of the screen, or one row, that can be a choice and not a design. */
const LARGEST_PART = 0.03;

/** A run of cells in a row with one background. */
interface CellRun {
  readonly background: number;
  text: string;
  cells: number;
}

/** Runs that look alike. */
interface Alike {
  cells: number;
  readonly texts: Set<string>;
}

/**
 * Returns the texts on a rare background, such as the chosen item of a menu; or else, since a button may have
 * the background of the screen, those in the middle of another background. A plain background is never rare,
 * nor is a whole row. Nothing is returned when there are many, since they do not tell one thing from others
 * then.
 *
 * @param size The size of the screen.
 */
export function highlightsOf(
  buffer: IBuffer,
  { rows, cols: columns }: { readonly rows: number; readonly cols: number },
): readonly string[] {
  const all = new Map<number, Alike>();
  const islands = new Map<number, Alike>();
  for (let row = buffer.baseY; row < buffer.baseY + rows; row += 1) {
    const stretches = stretchesOf(buffer, row, columns);
    if (stretches.length < 2) continue;
    stretches.forEach((stretch, index) => {
      add(all, stretch);
      const left = stretches[index - 1]?.background;
      if (left !== undefined && left === stretches[index + 1]?.background) add(islands, stretch);
    });
  }
  const most = Math.max(columns, rows * columns * LARGEST_PART);
  const texts = [rareOf(all, most), rareOf(islands, most)].find(({ length }) => length > 0) ?? [];
  return texts.length > MOST_TEXTS ? [] : texts;
}

function add(to: Map<number, Alike>, { background, text, cells }: CellRun): void {
  if (background === PLAIN) return;
  const alike = to.get(background) ?? { cells: 0, texts: new Set() };
  alike.cells += cells;
  if (/[\p{L}\p{N}]/u.test(text)) alike.texts.add(text.trim());
  to.set(background, alike);
}

function rareOf(stretches: ReadonlyMap<number, Alike>, mostCells: number): readonly string[] {
  return [...stretches.values()]
    .filter(({ cells, texts }) => cells <= mostCells && texts.size <= 2)
    .flatMap(({ texts }) => [...texts])
    .filter((text) => text.length <= LONGEST);
}

function stretchesOf(buffer: IBuffer, row: number, columns: number): readonly CellRun[] {
  const stretches: CellRun[] = [];
  const line = buffer.getLine(row);
  let cell: IBufferCell | undefined;
  let last: CellRun | undefined;
  for (let column = 0; column < columns; column += 1) {
    cell = line?.getCell(column, cell);
    if (cell === undefined) break;
    const background = backgroundOf(cell);
    if (last === undefined || background !== last.background) {
      last = { background, text: '', cells: 0 };
      stretches.push(last);
    }
    last.cells += 1;
    if (cell.getWidth() > 0) last.text += cell.getChars() || ' ';
  }
  return stretches;
}

const PLAIN = 0;

/** Returns a number for the background as it is seen; inverse text shows its own colour there. */
function backgroundOf(cell: IBufferCell): number {
  const isInverse = cell.isInverse() !== 0;
  const mode = isInverse ? cell.getFgColorMode() : cell.getBgColorMode();
  const color = isInverse ? cell.getFgColor() : cell.getBgColor();
  const isDefault = isInverse ? cell.isFgDefault() : cell.isBgDefault();
  if (isDefault) return isInverse ? 1 : PLAIN;
  return 2 + (mode >> 20) * 2 ** 26 + color * 2 + (isInverse ? 1 : 0);
}
