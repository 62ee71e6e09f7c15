import type { Capture } from '../engine/outcome.js';
import { formatCount } from '../support/text.js';

/** Output that was not all text, as it is shown to a model. */
interface ReadableOutput {
  /** The text, in which one line stands for lines that cannot be read, and says where they are. */
  readonly text: string;
  /** One line about the characters that stand for bytes; undefined: `text` says it. */
  readonly notice?: string;
  /** Whether something is left out, for which one line stands that says where all of it is. */
  readonly isCut: boolean;
  /** Whether no line can be read, so that `text` shows no part of the output. */
  readonly isBinary: boolean;
}

/** The number of unreadable characters up to which output is shown as it is. */
const FEW = 64;

/** The share of unreadable characters in binary output. Prose in Latin-1 and paths with NULs have less. */
const BINARY_SHARE = 0.3;

/** The same share for one line. */
const LINE_SHARE = 0.1;

/** The length from which readable characters count as text wherever they are; shorter ones occur in data. */
const SURE_LENGTH = 6;

/** The same for what stands before or after bytes on a line within them. */
const SURE_EDGE = 16;

/** What leads to bytes: `got: `, `total=`. Anything shorter, data begins with, too. */
const LEADS = /^[ -~]{2,}[:=>] +$|^[ -~]{5,}[:=>\])]$/;

/** Characters of a long line that are judged together. */
const PIECE = 400;

const MORE = '[… more of it …]';

/**
 * Makes a `lossy` capture readable for a model.
 *
 * @param shown The text that would be shown otherwise: all of it, or a part below lines of ours.
 * @param name The name of the output, such as `stdout`.
 * @param place The place of the exact bytes; undefined: they are not kept.
 * @param textPlace The place of the output as text, if only that is kept.
 */
export function readableOutput(
  shown: string,
  capture: Capture,
  name: string,
  place: string | undefined,
  textPlace?: string,
): ReadableOutput {
  const captured = capture.kind === 'complete' ? capture.text : `${capture.head}\n${capture.tail}`;
  const unreadable = countUnreadable(captured);
  if (unreadable < FEW || unreadable <= captured.length * BINARY_SHARE) {
    return asItIs(shown, name, place);
  }
  const where = place === undefined ? notKept(textPlace) : `: ${place}`;
  const line = `[binary output, ${formatCount(capture.total.bytes)} bytes${where}]`;
  const isBinary = withoutNoise(captured, line).trim() === line;
  const text = isBinary ? line : withoutNoise(shown, line);
  // Many short runs among text may be shorter than the lines that would stand for them.
  if (!isBinary && text.length >= shown.length) return asItIs(shown, name, place);
  return { text, isCut: true, isBinary };
}

/** `od` is where the shell is; `xxd` comes with an editor. */
const SHOWING_BYTES = 'through od -c, or through iconv if it is in another encoding';

function notKept(textPlace: string | undefined): string {
  const kept = textPlace === undefined ? 'not kept' : `kept as text alone: ${textPlace}`;
  return `, ${kept}; send it to a file, or ${SHOWING_BYTES}`;
}

function asItIs(text: string, name: string, place: string | undefined): ReadableOutput {
  const bytes =
    place === undefined
      ? `For the exact bytes, send it ${SHOWING_BYTES}.`
      : `The exact bytes are in ${place}.`;
  const notice = `Not all of ${name} is valid text: � stands for other bytes, ␀ for NUL. ${bytes}`;
  return { text, notice, isCut: false, isBinary: false };
}

/** Replaces what cannot be read by one line; what can be read beside it stays. */
function withoutNoise(text: string, line: string): string {
  const kept: string[] = [];
  let marks = 0;
  const keep = (piece: string | undefined): void => {
    if (piece !== undefined) kept.push(piece);
    else if (kept.length === 0 || !isMark(kept.at(-1))) kept.push(marks++ === 0 ? line : MORE);
  };
  const isMark = (piece: string | undefined): boolean => piece === line || piece === MORE;
  let run: string[] = [];
  for (const each of linesToJudge(text)) {
    const kind = kindOf(each);
    if (kind === 'noise' || (kind === 'short' && run.length > 0)) {
      run.push(each);
      continue;
    }
    piecesOf(run).forEach(keep);
    run = [];
    kept.push(each);
  }
  piecesOf(run).forEach(keep);
  return kept.join('\n');
}

/**
 * Returns what can be read in a run of lines that begins with one that cannot, and undefined for the rest:
 * short lines, and what stands before and after the bytes of a line. `FAIL` right behind an image is what a
 * model needs most, and nothing keeps it.
 */
function piecesOf(run: readonly string[]): readonly (string | undefined)[] {
  const lastNoise = run.findLastIndex((line) => kindOf(line) === 'noise');
  return run.flatMap((line, index): readonly (string | undefined)[] => {
    if (kindOf(line) !== 'noise') return isWorth(line, 1) ? [line] : [];
    const { before, after } = edgesOf(line);
    return [
      ...(isWorth(before, SURE_EDGE) || (index === 0 && LEADS.test(before)) ? [before] : []),
      undefined,
      ...(isWorth(after, index === lastNoise ? 1 : SURE_EDGE) ? [after] : []),
    ];
  });
}

/** Returns whether a piece is more than the single letter that data often has; a digit may be a code. */
function isWorth(piece: string, length: number): boolean {
  const text = piece.trim();
  return text.length >= length && (text.length > 1 || /^\d$/.test(text));
}

/** The lines; of a long one that is partly noise, as in programs, its parts. */
function linesToJudge(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    if (line.length <= PIECE || countUnreadable(line) === 0) return [line];
    const parts: string[] = [];
    let last: string | undefined;
    for (let at = 0; at < line.length; at += PIECE) {
      const piece = line.slice(at, at + PIECE);
      const kind = kindOf(piece);
      if (kind === last) parts.push(`${parts.pop()}${piece}`);
      else parts.push(piece);
      last = kind;
    }
    return parts;
  });
}

/** The readable characters before the first unreadable one of a line, and after the last one. */
function edgesOf(line: string): { readonly before: string; readonly after: string } {
  let start = 0;
  while (start < line.length && !isUnreadable(line.charCodeAt(start))) start += 1;
  let end = line.length;
  while (end > start && !isUnreadable(line.charCodeAt(end - 1))) end -= 1;
  return { before: line.slice(0, start), after: line.slice(end) };
}

function kindOf(line: string): 'text' | 'noise' | 'short' {
  const unreadable = countUnreadable(line);
  if (unreadable > line.length * LINE_SHARE) return 'noise';
  return line.length < SURE_LENGTH ? 'short' : 'text';
}

function countUnreadable(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (isUnreadable(text.charCodeAt(at))) count += 1;
  return count;
}

/** Returns whether a character stands for invalid UTF-8 or NUL, or is one that text does not have. */
function isUnreadable(code: number): boolean {
  return code < 0x20 ? !isLayout(code) : code === 0x7f || code === 0x2400 || code === 0xfffd;
}

/** Returns whether this is BEL, backspace, tab, LF, vertical tab, form feed, carriage return or escape. */
function isLayout(code: number): boolean {
  return (code >= 0x07 && code <= 0x0d) || code === 0x1b;
}
