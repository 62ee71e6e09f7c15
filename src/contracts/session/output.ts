import type { Capture } from '../../engine/outcome.js';
import { formatCount } from '../../support/text.js';
import { readableOutput } from '../lossy.js';

/** One stream as it is shown. */
export interface ShownStream {
  /** All of the stream, or its beginning and a note with its length; without lines that are no text. */
  readonly text: string;
  /** Characters (Unicode code points) of the whole stream. */
  readonly characters: number;
  /** Whether a part of the stream is not in `text`. */
  readonly isCut: boolean;
  /** One line about bytes that are no text; absent when there are none. */
  readonly lossy?: string;
}

/** A stream without output. */
export const NOTHING_SHOWN: ShownStream = { text: '', characters: 0, isCut: false };

/**
 * The limits of a capture for {@link showStream}: four bytes for each character that is shown, which is the
 * most that a character can have.
 */
export function streamLimits(maxCharacters: number) {
  return { headBytes: maxCharacters * 4, tailBytes: 0 } as const;
}

/** Shows the beginning of a stream that was captured with {@link streamLimits}. */
export function showStream(
  name: 'stdout' | 'stderr',
  capture: Capture,
  maxCharacters: number,
): ShownStream {
  const { characters } = capture.total;
  const kept = capture.kind === 'complete' ? capture.text : capture.head;
  const isShort = characters <= maxCharacters;
  const beginning = isShort ? kept : firstCharacters(kept, maxCharacters);
  const of = { name, characters, maxCharacters };
  if (!capture.lossy) {
    return { text: isShort ? kept : withNote(beginning, of), characters, isCut: !isShort };
  }
  const readable = readableOutput(beginning, capture, name, undefined);
  const { notice, isCut, isBinary } = readable;
  // The line that stands for binary output tells its size.
  const isTold = isShort || isBinary;
  const text = isTold ? readable.text : withNote(readable.text, of, isCut);
  return { text, characters, isCut: !isShort || isCut, ...(notice && { lossy: notice }) };
}

interface CutStream {
  readonly name: 'stdout' | 'stderr';
  readonly characters: number;
  readonly maxCharacters: number;
}

/** Says below the beginning of a stream how much it is; `isTextAlone`: without what is no text. */
function withNote(
  shown: string,
  { name, characters, maxCharacters }: CutStream,
  isTextAlone = false,
): string {
  const gap = shown.endsWith('\n') ? '' : '\n';
  const first = `the first ${formatCount(maxCharacters)}`;
  const what = isTextAlone ? `the text among ${first} is shown` : `${first} are shown`;
  const note =
    `[${name} truncated: it has ${formatCount(characters)} characters, ` + `of which ${what}]`;
  return `${shown}${gap}${note}`;
}

/** Returns the first `count` code points. */
export function firstCharacters(text: string, count: number): string {
  let end = 0;
  for (let seen = 0; seen < count && end < text.length; seen += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
