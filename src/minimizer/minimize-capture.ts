import type { Capture } from '../engine/outcome.js';
import type { OutputLimits } from '../options/command-options.js';
import { countLines } from '../support/text.js';
import { CLEANING, type MinimizedText, type Minimizer } from './minimizer.js';
import { type NumberedText, toText } from './numbered-text.js';

const NOTHING: NumberedText = { lines: [], numbers: [], endsWithNewline: false };

/**
 * The output that a text was made of, when it is not that output itself: notices count its lines, so
 * that they can be found in the whole output.
 */
export interface Origin {
  readonly lines: number;
  readonly bytes: number;
  /** Bytes of it that the text was made of, when they are not all. */
  readonly limitBytes?: number;
  /** Its line at which a line of the text begins; for the line after the last: `lines + 1`. */
  lineNumber(line: number): number;
}

/** A text that stands for a capture. */
export interface Version {
  /** As if a command had printed it. */
  readonly capture: Capture;
  /** The output that it stands for. */
  readonly origin: Origin;
  /** Names of what changed it. */
  readonly filters: readonly string[];
  /** UTF-8 bytes of all of it. */
  readonly bytes: number;
}

/** A capture without its noise. */
export interface MinimizedCapture {
  /** To be shown only if the raw output can be read somewhere: lines are left out. */
  readonly minimized: Version;
  /** Without escape sequences and redrawn lines, and with all else. */
  readonly cleaned: Version;
}

/** What the engine must keep for a minimizer to look at, as {@link OutputLimits}. */
export function inputLimits({ settings }: Minimizer, shown: OutputLimits): OutputLimits {
  const { maxInputBytes } = settings;
  if (shown.headBytes === 0) {
    return { headBytes: 0, tailBytes: Math.max(maxInputBytes, shown.tailBytes) };
  }
  const half = Math.ceil(maxInputBytes / 2);
  return {
    headBytes: Math.max(half, shown.headBytes),
    tailBytes: Math.max(half, shown.tailBytes),
  };
}

/**
 * Shortens a capture that was made with {@link inputLimits}; undefined when there is nothing that
 * could be shorter or cleaner. A failure is reported, and never the command's.
 *
 * @param shown How much of the result will be shown.
 */
export async function minimizeCapture(
  minimizer: Minimizer,
  capture: Capture,
  shown: OutputLimits,
  command: string,
): Promise<MinimizedCapture | undefined> {
  try {
    return await minimizeParts(minimizer, capture, shown, command);
  } catch (error) {
    minimizer.report(error);
    return undefined;
  }
}

async function minimizeParts(
  minimizer: Minimizer,
  capture: Capture,
  shown: OutputLimits,
  command: string,
): Promise<MinimizedCapture | undefined> {
  const parts = partsOf(capture);
  const results: MinimizedText[] = [];
  for (const { text } of parts) results.push(await minimizer.minimize(text, command));
  const changed = [...new Set(results.flatMap(({ filters }) => filters))];
  if (changed.length === 0) return undefined;
  const limitBytes = inputLimits(minimizer, shown).tailBytes;
  const version = (kind: 'minimized' | 'cleaned', filters: readonly string[]): Version => {
    const texts = results.map((result, index) => numberFrom(parts[index], result[kind]));
    const made =
      capture.kind === 'complete'
        ? ofWhole(texts, capture)
        : ofEnds(texts, parts, capture, shown, limitBytes);
    return { ...made, filters };
  };
  return {
    minimized: version('minimized', changed),
    cleaned: version(
      'cleaned',
      changed.filter((name) => name === CLEANING),
    ),
  };
}

interface Part {
  readonly text: string;
  /** The output's line with which it begins. */
  readonly firstLine: number;
}

/** What can be looked at: all of the output, or its ends, in whole lines where they have any. */
function partsOf(capture: Capture): Part[] {
  if (capture.kind === 'complete') return [{ text: capture.text, firstLine: 1 }];
  const { head, tail, total } = capture;
  const tailText = tail.slice(tail.indexOf('\n') + 1) || tail;
  const tailPart = { text: tailText, firstLine: total.lines - countLines(tailText) + 1 };
  if (head === '') return [tailPart];
  return [{ text: head.slice(0, head.lastIndexOf('\n') + 1) || head, firstLine: 1 }, tailPart];
}

function numberFrom(part: Part | undefined, text: NumberedText): NumberedText {
  const before = (part?.firstLine ?? 1) - 1;
  return before === 0 ? text : { ...text, numbers: text.numbers.map((each) => each + before) };
}

type Made = Omit<Version, 'filters'>;

function ofWhole(
  [whole = NOTHING]: readonly NumberedText[],
  { total: { lines, bytes } }: Capture,
): Made {
  const text = toText(whole);
  const total = {
    bytes: Buffer.byteLength(text),
    characters: text.length,
    lines: whole.lines.length,
  };
  const lineNumber = (line: number): number => whole.numbers[line - 1] ?? lines + 1;
  return {
    capture: { kind: 'complete', text, total, lossy: false },
    origin: { lines, bytes, lineNumber },
    bytes: total.bytes,
  };
}

/** A text of two ends: of the lines between them there is nothing but their numbers. */
function ofEnds(
  texts: readonly NumberedText[],
  parts: readonly Part[],
  { tail: rawTail, dropped, total, lastLineBytes }: Capture & { readonly kind: 'cut' },
  limits: OutputLimits,
  limitBytes: number,
): Made {
  const [first, last = NOTHING] = texts.length === 1 ? [NOTHING, ...texts] : texts;
  if (first === undefined) throw new RangeError('no text');
  const head = toText(first);
  const tail = toText(last);
  const headLines = first.lines.length;
  const gapStart = parts.length === 1 ? 1 : countLines(parts[0]?.text ?? '') + 1;
  const gap = Math.max(0, (last.numbers[0] ?? total.lines) - gapStart);
  const lineNumber = (line: number): number => {
    if (line <= headLines) return first.numbers[line - 1] ?? 1;
    if (line <= headLines + gap) return gapStart + line - headLines - 1;
    return last.numbers[line - headLines - gap - 1] ?? total.lines + 1;
  };
  const bytes = Buffer.byteLength(head) + Buffer.byteLength(tail);
  const counts = {
    bytes: bytes + dropped.bytes,
    characters: head.length + tail.length + dropped.characters,
    lines: headLines + gap + last.lines.length,
  };
  // By the newline before it one sees that the first line of a tail is whole.
  const isPart = parts.at(-1)?.text === rawTail;
  const isShownWhole =
    Buffer.byteLength(head) <= limits.headBytes && Buffer.byteLength(tail) <= limits.tailBytes;
  return {
    capture: {
      kind: 'cut',
      head,
      tail: isPart ? tail : `\n${tail}`,
      total: counts,
      dropped,
      lastLineBytes,
      lossy: false,
    },
    origin: {
      lines: total.lines,
      bytes: total.bytes,
      lineNumber,
      ...(isShownWhole && { limitBytes }),
    },
    bytes,
  };
}
