import type { Counts } from '../../../engine/outcome.js';
import { countLines, lastBytes } from '../../../support/text.js';

/** A range of lines, counted from 1. */
export interface LineRange {
  /** Number of the first line. */
  readonly start: number;
  /** Number of the last line. */
  readonly end: number;
  /** Set when only a piece is shown of the line at the cut: the tail's first, the head's last. */
  readonly partial?: true;
}

/** One end of an output as it is shown, with its line numbers. */
export interface Part {
  readonly text: string;
  readonly range: LineRange;
  /** The line at the cut, when only a piece of it is shown. */
  readonly piece?: OutputPiece | undefined;
}

/** Sizes as the command printed them. */
interface OutputPiece {
  readonly bytes: number;
  /** Bytes of the whole line; undefined: its beginning was not kept. */
  readonly lineBytes: number | undefined;
}

/** The ends of an output that is too long to be shown. */
export interface CutOutput {
  readonly head: string;
  readonly tail: string;
  readonly total: Counts;
  /** Bytes of the last line, without its newline. */
  readonly lastLineBytes: number;
  readonly lossy: boolean;
}

/** Returns the bytes of a text as it was printed: an invalid byte was one, and is three as it is shown. */
export function printedBytes(text: string, lossy: boolean): number {
  const bytes = Buffer.byteLength(text, 'utf8');
  if (!lossy) return bytes;
  let replaced = 0;
  for (const character of text) if (character === '\uFFFD' || character === '␀') replaced += 1;
  return bytes - 2 * replaced;
}

/**
 * Takes the end of an output: as many whole lines as fit. If they leave more than half of the room empty, it
 * is filled with the end of the line before them.
 *
 * @param output The output, whose tail has one byte more than fits, which shows whether a line begins there.
 */
export function endPart(output: CutOutput, maxBytes: number): Part {
  const { tail, total, lossy } = output;
  const whole = tail.slice(tail.indexOf('\n') + 1 || tail.length);
  if (fillsHalf(whole, maxBytes)) return { text: whole, range: rangeOf(whole, total.lines) };
  const text = lastBytes(tail, maxBytes);
  // The text begins at the beginning of a line, and the capture has nothing before it.
  if (text === whole || text === `\n${whole}`) {
    return { text: whole, range: rangeOf(whole, total.lines) };
  }
  const range: LineRange = { ...rangeOf(text, total.lines), partial: true };
  const lineEnd = text.indexOf('\n');
  const piece = lineEnd === -1 ? text : text.slice(0, lineEnd);
  return {
    text,
    range,
    piece: { bytes: printedBytes(piece, lossy), lineBytes: lineLength(output, range, text) },
  };
}

/** Returns the length of a line: known for the last one, and for the first, as the total minus the others. */
function lineLength(
  { total, lastLineBytes, lossy }: CutOutput,
  { start, end }: LineRange,
  text: string,
): number | undefined {
  if (start === end) return lastLineBytes;
  if (start > 1) return undefined;
  return total.bytes - printedBytes(text.slice(text.indexOf('\n')), lossy);
}

/** Takes the beginning of an output, likewise. */
export function beginPart({ head, lossy }: CutOutput, maxBytes: number): Part {
  const lineEnd = head.lastIndexOf('\n') + 1;
  const whole = head.slice(0, lineEnd);
  if (fillsHalf(whole, maxBytes) || whole === head) {
    return { text: whole, range: { start: 1, end: countLines(whole) } };
  }
  const bytes = printedBytes(head.slice(lineEnd), lossy);
  const range: LineRange = { start: 1, end: countLines(head), partial: true };
  return { text: head, range, piece: { bytes, lineBytes: undefined } };
}

function fillsHalf(text: string, maxBytes: number): boolean {
  return Buffer.byteLength(text, 'utf8') * 2 >= maxBytes;
}

function rangeOf(text: string, lastLine: number): LineRange {
  return { start: lastLine - Math.max(1, countLines(text)) + 1, end: lastLine };
}
