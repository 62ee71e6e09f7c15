import type { IBufferCell } from '@xterm/headless';
import type { ConsoleRow, TextColor, TextStyle } from './ui.js';

const FLAGS = [
  ['bold', 1, (cell: IBufferCell) => cell.isBold()],
  ['dim', 2, (cell: IBufferCell) => cell.isDim()],
  ['italic', 3, (cell: IBufferCell) => cell.isItalic()],
  ['underline', 4, (cell: IBufferCell) => cell.isUnderline()],
  ['blink', 5, (cell: IBufferCell) => cell.isBlink()],
  ['inverse', 7, (cell: IBufferCell) => cell.isInverse()],
  ['invisible', 8, (cell: IBufferCell) => cell.isInvisible()],
  ['strikethrough', 9, (cell: IBufferCell) => cell.isStrikethrough()],
] as const;

/** How most text looks. */
export const PLAIN: TextStyle = {};

/** Styles that look the same are the same object, for as long as they are kept here. */
const known = new Map<string, TextStyle>();
/** With colours of 24 bits there is no end of them. */
const MOST_KNOWN = 4096;

/** How a cell looks. */
export function styleOf(cell: IBufferCell): TextStyle {
  if (cell.isAttributeDefault()) return PLAIN;
  const flags = FLAGS.map(([, , has]) => (has(cell) ? 1 : 0)).join('');
  const colors = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode()];
  const look = `${flags},${colors},${cell.getBgColor()}`;
  const style = known.get(look) ?? makeStyle(cell);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(look, style);
  return style;
}

function makeStyle(cell: IBufferCell): TextStyle {
  const foreground = color(cell.isFgPalette(), cell.isFgRGB(), cell.getFgColor());
  const background = color(cell.isBgPalette(), cell.isBgRGB(), cell.getBgColor());
  return {
    ...(foreground && { foreground }),
    ...(background && { background }),
    ...Object.fromEntries(FLAGS.flatMap(([name, , has]) => (has(cell) ? [[name, true]] : []))),
  };
}

function color(isPalette: boolean, isRgb: boolean, value: number): TextColor | undefined {
  if (isPalette) return { palette: value };
  return isRgb ? { rgb: value } : undefined;
}

/** A row as text with the escape sequences (SGR) that make a terminal show it so. */
export function ansiRow(row: ConsoleRow): string {
  const text = row.map((part) => {
    const codes = ansiCodes(part.style);
    return codes.length === 0 ? part.text : `\x1b[${codes.join(';')}m${part.text}\x1b[0m`;
  });
  return text.join('');
}

function ansiCodes(style: TextStyle): number[] {
  const flags: number[] = FLAGS.filter(([name]) => style[name]).map(([, code]) => code);
  return [...flags, ...colorCodes(38, style.foreground), ...colorCodes(48, style.background)];
}

function colorCodes(selector: 38 | 48, given: TextColor | undefined): number[] {
  if (given === undefined) return [];
  if ('palette' in given) return [selector, 5, given.palette];
  return [selector, 2, (given.rgb >> 16) & 255, (given.rgb >> 8) & 255, given.rgb & 255];
}
