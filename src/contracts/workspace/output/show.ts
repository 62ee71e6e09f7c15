import type { OutputLimits } from '../../../command/options.js';
import type { Capture, Counts } from '../../../engine/outcome.js';
import type { Origin } from '../../../minimizer/minimize-capture.js';
import { firstBytes, formatCount, formatSize, lastBytes } from '../../../support/text.js';

/** Line numbers, the first and the last, counted from 1. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** What was left out of the shown output. */
export interface Truncation {
  /** Which part is shown: the `tail`, or head and tail without the `middle`. */
  readonly direction: 'tail' | 'middle';
  readonly truncatedBy: 'bytes';
  readonly totalLines: number;
  readonly totalBytes: number;
  /** Lines shown, wholly or in part. */
  readonly outputLines: number;
  readonly outputBytes: number;
  /** Lines shown of the end. */
  readonly shownRange: LineRange;
  /** Lines shown of the beginning, with direction `middle`. */
  readonly headRange?: LineRange;
  /** Where all of the output is, as `artifact://ID`, when it was kept. */
  readonly artifactId?: string;
}

/** Where all of a cut output can be read. */
export interface WholeOutput {
  readonly artifactId: string;
  /** Only so many bytes, the first, are there; absent when it is all of them. */
  readonly firstBytes?: number;
}

/** A capture as it is shown. */
export interface ShownOutput {
  readonly text: string;
  /** The pieces of `text`, when the middle is missing. */
  readonly parts?: { readonly head: string; readonly marker: string; readonly tail: string };
  /** One line about what is not shown, and its figures; absent when all is shown. */
  readonly cut?: { readonly notice: string; readonly truncation: Truncation };
}

/**
 * What the engine must keep for {@link showCapture}: one byte more than is shown, by which one sees
 * whether the tail begins at the beginning of a line.
 */
export function limitsToShow(limits: OutputLimits): OutputLimits {
  return { headBytes: limits.headBytes, tailBytes: limits.tailBytes + 1 };
}

/**
 * The text to show for a capture made with {@link limitsToShow} or larger ones: whole lines only, as many as fit,
 * or the end of one line when not even that fits.
 */
export function showCapture(
  capture: Capture,
  limits: OutputLimits,
  whole?: WholeOutput,
  origin: Origin = itself(capture.total),
): ShownOutput {
  const shown = showLimited(capture, limits, origin);
  if (shown.cut === undefined || whole === undefined) return shown;
  const { notice, truncation } = shown.cut;
  return {
    ...shown,
    cut: {
      notice: `${notice.slice(0, -1)}. ${readHint(whole)}]`,
      truncation: { ...truncation, artifactId: whole.artifactId },
    },
  };
}

function itself({ lines, bytes }: Counts): Origin {
  return { lines, bytes, lineNumber: (line) => line };
}

function readHint({ artifactId, firstBytes: kept }: WholeOutput): string {
  const what = kept === undefined ? 'full output' : `its first ${formatSize(kept)}`;
  return `Read artifact://${artifactId} for ${what}`;
}

function showLimited(capture: Capture, limits: OutputLimits, origin: Origin): ShownOutput {
  const { total } = capture;
  // More may have been captured than is to be shown.
  if (capture.kind === 'complete') {
    if (total.bytes <= limits.headBytes + limits.tailBytes) return { text: capture.text };
    const head = firstBytes(capture.text, limits.headBytes);
    const tail = lastBytes(capture.text.slice(head.length), limits.tailBytes + 1);
    return showCut(
      { head, tail, total, lastLineBytes: lengthOfLastLine(capture.text) },
      limits,
      origin,
    );
  }
  const head = firstBytes(capture.head, limits.headBytes);
  const tail = lastBytes(capture.tail, limits.tailBytes + 1);
  return showCut({ head, tail, total, lastLineBytes: capture.lastLineBytes }, limits, origin);
}

type CutCapture = Pick<Capture & { kind: 'cut' }, 'head' | 'tail' | 'total' | 'lastLineBytes'>;

function showCut(capture: CutCapture, limits: OutputLimits, origin: Origin): ShownOutput {
  const { head, tail, total, lastLineBytes } = capture;
  const end = alignTail(tail, total.lines, limits.tailBytes);
  if (limits.headBytes === 0) return showTail(end, lastLineBytes, limits, origin);
  return showEnds(alignHead(head), end, total, limits, origin);
}

function lengthOfLastLine(text: string): number {
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  return byteLength(whole.slice(whole.lastIndexOf('\n') + 1));
}

/** Shown text, and which lines it is. */
interface Part {
  readonly text: string;
  readonly range: LineRange;
  /** It is a piece of one line, because no whole one fits. */
  readonly partial: boolean;
}

/** Drops the line that the tail begins in the middle of, unless there is no other. */
function alignTail(tail: string, lastLine: number, maxBytes: number): Part {
  const lineStart = tail.indexOf('\n') + 1;
  const text = tail.slice(lineStart);
  if (lineStart === 0 || text === '') {
    return {
      text: lastBytes(tail, maxBytes),
      range: { start: lastLine, end: lastLine },
      partial: true,
    };
  }
  const start = lastLine - countLines(text) + 1;
  return { text, range: { start, end: lastLine }, partial: false };
}

function alignHead(head: string): Part {
  const lineEnd = head.lastIndexOf('\n') + 1;
  const text = lineEnd === 0 ? head : head.slice(0, lineEnd);
  return { text, range: { start: 1, end: countLines(text) }, partial: lineEnd === 0 };
}

function showTail(
  tail: Part,
  lastLineBytes: number,
  limits: OutputLimits,
  origin: Origin,
): ShownOutput {
  const limit = formatSize(origin.limitBytes ?? limits.tailBytes);
  const shownRange = rangeIn(origin, tail.range);
  const notice = tail.partial
    ? `[Showing last ${formatSize(byteLength(tail.text))} of line ${origin.lines} ` +
      `(line is ${formatSize(lastLineBytes)})]`
    : `[Showing lines ${formatRange(shownRange)} of ${origin.lines} (${limit} limit)]`;
  const truncation: Truncation = {
    direction: 'tail',
    truncatedBy: 'bytes',
    totalLines: origin.lines,
    totalBytes: origin.bytes,
    outputLines: lineCount(tail.range),
    outputBytes: byteLength(tail.text),
    shownRange,
  };
  return { text: tail.text, cut: { notice, truncation } };
}

function showEnds(
  head: Part,
  tail: Part,
  total: Counts,
  limits: OutputLimits,
  origin: Origin,
): ShownOutput {
  const shownRange = rangeIn(origin, tail.range);
  const headRange = rangeIn(origin, head.range);
  const outputBytes = byteLength(head.text) + byteLength(tail.text);
  const marker = elisionMarker(
    shownRange.start - headRange.end - 1,
    // Invalid bytes are three bytes each as U+FFFD, so what is shown can look larger than it was.
    Math.max(0, total.bytes - outputBytes),
  );
  const { limitBytes } = origin;
  const [most, last] = [limitBytes ?? limits.headBytes, limitBytes ?? limits.tailBytes];
  const sizes = `${formatSize(most)} + ${formatSize(last)} limit`;
  const notice =
    `[Showing lines ${formatRange(headRange)} and ${formatRange(shownRange)} ` +
    `of ${origin.lines} (${sizes})]`;
  const truncation: Truncation = {
    direction: 'middle',
    truncatedBy: 'bytes',
    totalLines: origin.lines,
    totalBytes: origin.bytes,
    outputLines:
      tail.range.end - Math.max(tail.range.start, head.range.end + 1) + 1 + head.range.end,
    outputBytes,
    shownRange,
    headRange,
  };
  const gap = head.partial ? '\n' : '';
  const parts = { head: head.text + gap, marker: `${marker}\n`, tail: tail.text };
  return { text: parts.head + parts.marker + parts.tail, parts, cut: { notice, truncation } };
}

/** Without a count of lines when only pieces of lines are missing. */
function elisionMarker(lines: number, bytes: number): string {
  const size = formatSize(bytes);
  if (lines <= 0) return `[… ${size} elided …]`;
  return `[… ${formatCount(lines)} ${lines === 1 ? 'line' : 'lines'} elided (${size}) …]`;
}

/** Lines of the text as lines of the output that it was made of. */
function rangeIn({ lineNumber }: Origin, { start, end }: LineRange): LineRange {
  const first = lineNumber(start);
  return { start: first, end: Math.max(first, lineNumber(end + 1) - 1) };
}

function formatRange(range: LineRange): string {
  return `${range.start}-${range.end}`;
}

function lineCount(range: LineRange): number {
  return range.end - range.start + 1;
}

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
