import type { Capture } from '../engine/outcome.js';
import { formatCount } from '../support/text.js';

/** Output that was not all text, as it is shown to a model. */
interface ReadableOutput {
  /** The text, in which one line stands for lines that cannot be read, and says where they are. */
  readonly text: string;
  /** One line about the characters that stand for bytes; undefined: `text` says it. */
  readonly notice?: string;
  /** Whether lines are left out. */
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

/** The length from which a readable line counts as text; shorter ones occur in binary data, too. */
const SURE_LINE = 6;

const MORE = '[… more of it …]';

/**
 * Makes a `lossy` capture readable for a model.
 *
 * @param shown The text that would be shown otherwise: all of it, or a part below lines of ours.
 * @param name The name of the output, such as `stdout`.
 * @param place The place of the exact bytes; undefined: they are not kept.
 */
export function readableOutput(
  shown: string,
  capture: Capture,
  name: string,
  place: string | undefined,
): ReadableOutput {
  const captured = capture.kind === 'complete' ? capture.text : `${capture.head}\n${capture.tail}`;
  const unreadable = countUnreadable(captured);
  if (unreadable < FEW || unreadable <= captured.length * BINARY_SHARE) {
    return asItIs(shown, name, place);
  }
  const where =
    place === undefined
      ? ', not kept; send it to a file, or through xxd, or through iconv if it is in another encoding'
      : `: ${place}`;
  const line = `[binary output, ${formatCount(capture.total.bytes)} bytes${where}]`;
  const isBinary = withoutNoise(captured, line).trim() === line;
  const text = isBinary ? line : withoutNoise(shown, line);
  // Many short runs among text may be shorter than the lines that would stand for them.
  if (!isBinary && text.length >= shown.length) return asItIs(shown, name, place);
  return { text, isCut: true, isBinary };
}

function asItIs(text: string, name: string, place: string | undefined): ReadableOutput {
  const bytes =
    place === undefined
      ? 'For the exact bytes, send it through xxd, or through iconv if it is in another encoding.'
      : `The exact bytes are in ${place}.`;
  const notice = `Not all of ${name} is valid text: � stands for other bytes, ␀ for NUL. ${bytes}`;
  return { text, notice, isCut: false, isBinary: false };
}

/** Replaces each run of unreadable lines by one line. */
function withoutNoise(text: string, line: string): string {
  const kept: string[] = [];
  let runs = 0;
  let inRun = false;
  for (const each of text.split('\n')) {
    const kind = kindOf(each);
    if (kind === 'text' || (kind === 'either' && !inRun)) {
      kept.push(each);
      inRun = false;
    } else if (!inRun) {
      runs += 1;
      kept.push(runs === 1 ? line : MORE);
      inRun = true;
    }
  }
  return kept.join('\n');
}

function kindOf(line: string): 'text' | 'noise' | 'either' {
  const unreadable = countUnreadable(line);
  if (unreadable > line.length * LINE_SHARE) return 'noise';
  return line.length < SURE_LINE ? 'either' : 'text';
}

/** Counts the characters that stand for invalid UTF-8 or NUL, and those that text does not have. */
function countUnreadable(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 ? !isLayout(code) : code === 0x7f || code === 0x2400 || code === 0xfffd) {
      count += 1;
    }
  }
  return count;
}

/** Returns whether this is BEL, backspace, tab, LF, vertical tab, form feed, carriage return or escape. */
function isLayout(code: number): boolean {
  return (code >= 0x07 && code <= 0x0d) || code === 0x1b;
}
