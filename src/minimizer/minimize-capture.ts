import type { Capture } from '../engine/outcome.js';
import type { OutputLimits } from '../options/command-options.js';
import { countLines } from '../support/text.js';
import { CLEANING, type MinimizedText, type Minimizer } from './minimizer.js';
import { type NumberedText, toText } from './numbered-text.js';

const NOTHING: NumberedText = { lines: [], numbers: [], endsWithNewline: false };

/**
 * The output that a text was made of, if it differs from the text: notices count the output's lines, so
 * that a reader finds them in the whole output.
 */
export interface Origin {
  readonly lines: number;
  readonly bytes: number;
  /** Bytes of the output that were examined, if not all. */
  readonly limitBytes?: number;
  /**
   * Returns the output's line at which a line of the text begins; for the line after the last:
   * `lines + 1`.
   */
  lineNumber(line: number): number;
}

/** A text that replaces a capture. */
export interface Version {
  /** The text, as if a command had printed it. */
  readonly capture: Capture;
  /** The output that the text replaces. */
  readonly origin: Origin;
  /** Names of the filters that changed it. */
  readonly filters: readonly string[];
  /** UTF-8 bytes of the whole text. */
  readonly bytes: number;
}

/** The shortened versions of a capture. */
export interface MinimizedCapture {
  /** For an output whose raw bytes can be read elsewhere, since lines are left out. */
  readonly minimized: Version;
  /** Without escape sequences and redrawn lines; nothing else is left out. */
  readonly cleaned: Version;
}

/** The command that printed an output. */
interface PrintingCommand {
  /** The shell text. */
  readonly text: string;
  /** Whether it ended with exit code 0. */
  readonly endedWell: boolean;
}

/** Returns the limits with which the engine must keep an output for a minimizer, as {@link OutputLimits}. */
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
 * Shortens a capture that was made with {@link inputLimits}; returns undefined when nothing could be
 * shorter or cleaner. A failure is reported, and does not fail the command.
 *
 * @param shown How much of the result will be shown.
 */
export async function minimizeCapture(
  minimizer: Minimizer,
  capture: Capture,
  shown: OutputLimits,
  command: PrintingCommand,
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
  { text: command, endedWell }: PrintingCommand,
): Promise<MinimizedCapture | undefined> {
  const parts = partsOf(capture);
  const results: MinimizedText[] = [];
  for (const part of parts) {
    // The first of two parts ends in the middle of the output, not where the command did.
    const isEnd = part === parts.at(-1);
    results.push(await minimizer.minimize(part.text, command, endedWell || !isEnd));
  }
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

interface ExaminedPart {
  readonly text: string;
  /** The output's line at which the part begins. */
  readonly firstLine: number;
}

/** Returns the parts to examine: all of the output, or its ends, in whole lines if there are any. */
function partsOf(capture: Capture): ExaminedPart[] {
  if (capture.kind === 'complete') return [{ text: capture.text, firstLine: 1 }];
  const { head, tail, total } = capture;
  const tailText = tail.slice(tail.indexOf('\n') + 1) || tail;
  const tailPart = { text: tailText, firstLine: total.lines - countLines(tailText) + 1 };
  if (head === '') return [tailPart];
  return [{ text: head.slice(0, head.lastIndexOf('\n') + 1) || head, firstLine: 1 }, tailPart];
}

function numberFrom(part: ExaminedPart | undefined, text: NumberedText): NumberedText {
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

/** Makes a text of two ends: of the lines between them only their number is known. */
function ofEnds(
  texts: readonly NumberedText[],
  parts: readonly ExaminedPart[],
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
  // The newline before it shows that the first line of a tail is whole.
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
