import type { ConsoleRow, TextColor, TextStyle } from './ui.js';

/** The flags of a style, and the codes (SGR) that set them. */
export const FLAGS = [
  ['bold', 1],
  ['dim', 2],
  ['italic', 3],
  ['underline', 4],
  ['blink', 5],
  ['inverse', 7],
  ['invisible', 8],
  ['strikethrough', 9],
] as const;

/** The default style. */
export const PLAIN: TextStyle = {};

/** Returns a row as text with the escape sequences (SGR) for its styles. */
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
