import type { IBufferCell } from '@xterm/headless';
import { FLAGS, PLAIN } from './style.js';
import type { TextColor, TextStyle } from './ui.js';

/** The look of a cell as numbers, which are cheap to compare: a screen has up to 80,000 cells. */
interface CellLook {
  flags: number;
  /** Palette, RGB or default, with the terminal's numbers. */
  foregroundMode: number;
  foreground: number;
  backgroundMode: number;
  background: number;
}

/** Copies a cell's look to `look`. Returns whether that changed it. */
export function copyLook(cell: IBufferCell, look: CellLook): boolean {
  const flags =
    (cell.isBold() && 1) |
    (cell.isDim() && 2) |
    (cell.isItalic() && 4) |
    (cell.isUnderline() && 8) |
    (cell.isBlink() && 16) |
    (cell.isInverse() && 32) |
    (cell.isInvisible() && 64) |
    (cell.isStrikethrough() && 128);
  const foregroundMode = cell.getFgColorMode();
  const foreground = cell.getFgColor();
  const backgroundMode = cell.getBgColorMode();
  const background = cell.getBgColor();
  if (
    flags === look.flags &&
    foreground === look.foreground &&
    background === look.background &&
    foregroundMode === look.foregroundMode &&
    backgroundMode === look.backgroundMode
  ) {
    return false;
  }
  Object.assign(look, { flags, foregroundMode, foreground, backgroundMode, background });
  return true;
}

/** Returns the style of a cell whose flags are known. */
export function styleOf(cell: IBufferCell, flags: number): TextStyle {
  if (cell.isAttributeDefault()) return PLAIN;
  const foreground = color(cell.isFgPalette(), cell.isFgRGB(), cell.getFgColor());
  const background = color(cell.isBgPalette(), cell.isBgRGB(), cell.getBgColor());
  const style: Record<string, TextColor | true> = {};
  if (foreground !== undefined) style.foreground = foreground;
  if (background !== undefined) style.background = background;
  for (const [index, [name]] of FLAGS.entries()) {
    if (flags & (1 << index)) style[name] = true;
  }
  return style;
}

function color(isPalette: boolean, isRgb: boolean, value: number): TextColor | undefined {
  if (isPalette) return { palette: value };
  return isRgb ? { rgb: value } : undefined;
}
