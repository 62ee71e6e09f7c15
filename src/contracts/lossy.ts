import type { Capture } from '../engine/outcome.js';
import { formatCount } from '../support/text.js';

/** Output of which not all was text, as a model is given it. */
interface ReadableOutput {
  /** Without lines that nobody can read: one line stands for them and says where they are. */
  readonly text: string;
  /** One line on the characters that stand for bytes; undefined: `text` says it. */
  readonly notice?: string;
  /** Lines are left out. */
  readonly isCut: boolean;
  /** No line can be read, so there is no part of the output that `text` shows. */
  readonly isBinary: boolean;
}

/** As many are shown as they are: of so little, nobody needs to be spared. */
const FEW = 64;

/** Of all characters. Prose in Latin-1 has less, and so have paths with NUL between them. */
const BINARY_SHARE = 0.3;

/** Of a line's. */
const LINE_SHARE = 0.1;

/** Shorter lines happen in binary data, too. */
const SURE_LINE = 6;

const MORE = '[… more of it …]';

/**
 * The text for a model of a capture that is `lossy`.
 *
 * @param shown What would be shown of it: all, or a part under lines of ours.
 * @param name What it is called, such as `stdout`.
 * @param place Where its exact bytes are; undefined: nowhere.
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
  // Many short runs among text are no longer than what would stand for them.
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

/** With one line for each run of lines that are none. */
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

/** What stands for bytes that are not UTF-8, or for NUL, and what no text has. */
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

/** BEL, backspace, tab, newline, vertical tab, form feed, carriage return; escape. */
function isLayout(code: number): boolean {
  return (code >= 0x07 && code <= 0x0d) || code === 0x1b;
}
