// Records a terminal over time, as one SVG: a frame for each change of the screen.
/** @import { IBufferCell, Terminal } from '@xterm/headless' */

import { escaped } from './svg.mjs';

const CELL = { width: 8.4, height: 19 };
const PADDING = 14;
const BAR = 30;
const LOOK_MS = 60;
const LAST_MS = 4000;
const PALETTE = [
  ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#f0f6fc'],
];

/** @typedef {{ text: string, fill: string, bold: boolean, inverse: boolean, at: number }} Run */

/** @param {IBufferCell} cell */
function lookOf(cell) {
  const number = cell.isFgPalette() ? cell.getFgColor() : -1;
  return {
    fill: PALETTE[number] ?? '#e6edf3',
    bold: cell.isBold() !== 0,
    inverse: cell.isInverse() !== 0,
  };
}

/**
 * Splits a row into pieces of one look each.
 * @param {Terminal} terminal
 * @param {number} row
 */
function runsOf(terminal, row) {
  const line = terminal.buffer.active.getLine(terminal.buffer.active.viewportY + row);
  /** @type {Run[]} */
  const runs = [];
  for (let at = 0; at < terminal.cols; at++) {
    const cell = line?.getCell(at);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || ' ';
    const same =
      last?.fill === look.fill && last.bold === look.bold && last.inverse === look.inverse;
    if (last !== undefined && same) last.text += text;
    else runs.push({ ...look, text, at });
  }
  return runs.filter(({ text, inverse }) => inverse || text.trim() !== '');
}

/** @param {Run} run @param {number} y */
function drawRun({ text, fill, bold, inverse, at }, y) {
  const x = PADDING + at * CELL.width;
  const shown = text.trimEnd();
  const width = (text.length * CELL.width).toFixed(1);
  const ground = inverse
    ? `<rect x="${x.toFixed(1)}" y="${y - 14}" width="${width}" height="${CELL.height}" fill="#b1bac4"/>`
    : '';
  const look = `fill="${inverse ? '#0d1117' : fill}"${bold ? ' font-weight="700"' : ''}`;
  const length = (shown.length * CELL.width).toFixed(1);
  return `${ground}<text x="${x.toFixed(1)}" y="${y}" ${look} textLength="${length}">${escaped(shown)}</text>`;
}

/** @param {Terminal} terminal */
function drawScreen(terminal) {
  const { cursorX, cursorY } = terminal.buffer.active;
  const rows = Array.from({ length: terminal.rows }, (_, row) =>
    runsOf(terminal, row)
      .map((run) => drawRun(run, BAR + PADDING + 12 + row * CELL.height))
      .join(''),
  );
  const cursor = `<rect x="${(PADDING + cursorX * CELL.width).toFixed(1)}" y="${BAR + PADDING - 2 + cursorY * CELL.height}" width="${CELL.width}" height="${CELL.height - 2}" fill="#e6edf3" opacity="0.6"/>`;
  return [...rows.filter((row) => row !== ''), cursor].join('\n');
}

/** @typedef {{ svg: string, at: number }} Frame */

/**
 * Makes the style by which a frame is visible from its time to that of the next; with reduced motion,
 * only the last one is.
 * @param {readonly Frame[]} frames
 * @param {number} wholeMs
 */
function style(frames, wholeMs) {
  const part = (/** @type {number} */ at) => `${((at / wholeMs) * 100).toFixed(2)}%`;
  const rules = frames.map(({ at }, index) => {
    const next = frames[index + 1]?.at ?? wholeMs;
    const before = at > 0 ? `0%, ${part(at - 1)} { visibility: hidden } ` : '';
    const after = next < wholeMs ? ` ${part(next)}, 100% { visibility: hidden }` : '';
    const seen = `${part(at)}, ${part(next < wholeMs ? next - 1 : next)} { visibility: visible }`;
    return `@keyframes f${index} { ${before}${seen}${after} } .f${index} { animation: f${index} ${wholeMs}ms step-end infinite }`;
  });
  return [
    'text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }',
    '.frame { visibility: hidden } .last { visibility: visible }',
    `@media (prefers-reduced-motion: no-preference) { ${rules.join('\n')} }`,
  ].join('\n');
}

/**
 * @param {Terminal} terminal
 * @param {readonly Frame[]} frames
 * @param {number} wholeMs
 */
function draw(terminal, frames, wholeMs) {
  const width = Math.ceil(terminal.cols * CELL.width) + 2 * PADDING;
  const height = terminal.rows * CELL.height + 2 * PADDING + BAR;
  const groups = frames.map(({ svg }, index) => {
    const last = index === frames.length - 1 ? ' last' : '';
    return `<g class="frame f${index}${last}">\n${svg}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>A terminal: forkline run --pty asks its user for a passphrase, shows a progress bar, and leaves the text.</title>',
    `<style>${style(frames, wholeMs)}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117" stroke="#3d444d"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, index) => `<circle cx="${20 + index * 20}" cy="18" r="6" fill="${fill}"/>`,
    ),
    ...groups,
    '</svg>',
    '',
  ].join('\n');
}

/**
 * Begins to record a terminal.
 * @param {Terminal} terminal
 */
export function film(terminal) {
  const start = performance.now();
  /** @type {Frame[]} */
  const frames = [];
  const look = () => {
    const svg = drawScreen(terminal);
    const at = frames.length === 0 ? 0 : Math.round(performance.now() - start);
    if (svg !== frames.at(-1)?.svg) frames.push({ svg, at });
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    /** Returns the picture of all recorded frames. */
    end() {
      clearInterval(timer);
      look();
      return draw(terminal, frames, (frames.at(-1)?.at ?? 0) + LAST_MS);
    },
  };
}
