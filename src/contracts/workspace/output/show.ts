import { type KeptOutput, keepText, type OutputKeeper } from '../../../artifacts/keep-output.js';
import type { ArtifactStore } from '../../../artifacts/store.js';
import type { Capture, Counts, MergedResult } from '../../../engine/outcome.js';
import type { Origin } from '../../../minimizer/minimize-capture.js';
import type { Minimizer } from '../../../minimizer/minimizer.js';
import type { OutputLimits } from '../../../options/command-options.js';
import {
  firstBytes,
  formatCount,
  formatSize,
  formatSizeBeside,
  lastBytes,
} from '../../../support/text.js';
import { TOOL } from '../../contract.js';
import {
  beginPart,
  type CutOutput,
  endPart,
  type LineRange,
  type Part,
  printedBytes,
} from './parts.js';

/** Facts about an output of which a part is not shown. */
export interface Truncation {
  /** The shown part: the `tail`, or head and tail without the `middle`. */
  readonly direction: 'tail' | 'middle';
  readonly truncatedBy: 'bytes';
  /** Lines of the whole output. */
  readonly totalLines: number;
  /** Bytes of the whole output, as they were printed. */
  readonly totalBytes: number;
  /** Lines shown, wholly or in part. */
  readonly outputLines: number;
  /** Bytes shown, as UTF-8. */
  readonly outputBytes: number;
  /** Lines shown of the end. */
  readonly shownRange: LineRange;
  /** Lines shown of the beginning, with direction `middle`. */
  readonly headRange?: LineRange;
  /** Id of the artifact with the whole output (`artifact://ID`), when it was kept. */
  readonly artifactId?: string;
}

/** The artifact with the whole of a cut output. */
export interface WholeOutput {
  readonly artifactId: string;
  /** The number of bytes that were kept, the first ones; absent when all were kept. */
  readonly firstBytes?: number;
}

/** A capture as it is shown. */
export interface ShownOutput {
  readonly text: string;
  /** The pieces of `text`, when the middle is missing. */
  readonly parts?: { readonly head: string; readonly marker: string; readonly tail: string };
  /**
   * One line about what is not shown, and its figures; absent when all is shown. Without the line, `text`
   * says it.
   */
  readonly cut?: { readonly notice?: string; readonly truncation: Truncation };
  /** One line about bytes that are no text; absent when there are none. */
  readonly lossy?: string;
  /** Whether lines that are no text are left out. */
  readonly unreadable?: boolean;
}

/**
 * The limits of a capture for {@link showCapture}: besides the shown bytes a final newline, which does not
 * count, and one byte that shows whether the tail begins at the beginning of a line.
 */
export function limitsToShow(limits: OutputLimits): OutputLimits {
  return { headBytes: limits.headBytes, tailBytes: limits.tailBytes + 2 };
}

/** Returns whether a capture fits as text: an invalid byte takes three bytes as text. */
function isShownWhole(capture: Capture, limits: OutputLimits): boolean {
  if (capture.kind === 'cut') return false;
  const { text, total, lossy } = capture;
  const bytes = lossy ? Buffer.byteLength(text) : total.bytes;
  return bytes <= limits.headBytes + limits.tailBytes + (text.endsWith('\n') ? 1 : 0);
}

/**
 * Makes the shown text of a capture with {@link limitsToShow} or larger limits: as many whole lines as fit,
 * and a piece of a line where whole ones leave most of the room empty.
 */
export function showCapture(
  capture: Capture,
  limits: OutputLimits,
  whole?: WholeOutput,
  origin: Origin = itself(capture.total),
): ShownOutput {
  if (capture.kind === 'complete' && isShownWhole(capture, limits)) return { text: capture.text };
  const shown = showCut(cutTo(capture, limits), limits, origin);
  if (shown.cut === undefined || whole === undefined) return shown;
  const { notice = '', truncation } = shown.cut;
  return {
    ...shown,
    cut: {
      notice: `${notice.slice(0, -1)}. ${readHint(whole, truncation)}]`,
      truncation: { ...truncation, artifactId: whole.artifactId },
    },
  };
}

function itself({ lines, bytes }: Counts): Origin {
  return { lines, bytes, lineNumber: (line) => line };
}

/** Lines in a suggested command: about as much as is shown at once. */
const SUGGESTED_LINES = 200;

/** Says where the rest is, with a command that shows a part of it. */
function readHint(
  { artifactId, firstBytes: kept }: WholeOutput,
  { headRange, shownRange }: Truncation,
): string {
  const url = `artifact://${artifactId}`;
  const what = kept === undefined ? 'full output' : `its first ${formatSize(kept)}`;
  const missing = (headRange?.end ?? 0) + 1;
  const end = shownRange.start - 1;
  // When the output was not kept whole, only its beginning is certain to be there.
  const first = kept === undefined ? Math.max(missing, end - SUGGESTED_LINES + 1) : missing;
  const last = Math.min(end, first + SUGGESTED_LINES - 1);
  const command = first <= last ? `sed -n ${first},${last}p ${url}` : `head -c 40000 ${url}`;
  return `Read ${url} for ${what}: ${command}`;
}

/** Cuts a capture, which may have more, to the ends that may be shown. */
function cutTo(capture: Capture, limits: OutputLimits): CutOutput {
  const { total, lossy } = capture;
  const [first, last] =
    capture.kind === 'complete' ? [capture.text, capture.text] : [capture.head, capture.tail];
  const head = firstBytes(first, limits.headBytes);
  const rest = capture.kind === 'complete' ? last.slice(head.length) : last;
  const tail = lastBytes(rest, roomAtEnd(last, limits) + 1);
  const lastLineBytes =
    capture.kind === 'complete' ? lengthOfLastLine(capture.text, lossy) : capture.lastLineBytes;
  return { head, tail, total, lastLineBytes, lossy };
}

function lengthOfLastLine(text: string, lossy: boolean): number {
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  return printedBytes(whole.slice(whole.lastIndexOf('\n') + 1), lossy);
}

/** Returns the room for the end. A final newline takes none, since the answer drops it. */
function roomAtEnd(tail: string, { tailBytes }: OutputLimits): number {
  return tailBytes + (tail.endsWith('\n') ? 1 : 0);
}

function showCut(output: CutOutput, limits: OutputLimits, origin: Origin): ShownOutput {
  const end = endPart(output, roomAtEnd(output.tail, limits));
  if (limits.headBytes === 0) return showTail(end, limits, origin);
  return showEnds(beginPart(output, limits.headBytes), end, output, limits, origin);
}

function showTail(tail: Part, limits: OutputLimits, origin: Origin): ShownOutput {
  const limit = formatSize(origin.limitBytes ?? limits.tailBytes);
  const shownRange = rangeIn(origin, tail.range);
  const { piece } = tail;
  const isOneLine = tail.range.start === tail.range.end;
  const lines = `[Showing lines ${formatRange(shownRange)} of ${origin.lines} (${limit} limit)`;
  const notice =
    piece === undefined
      ? `${lines}]`
      : isOneLine
        ? `[Showing last ${formatSize(piece.bytes)} of line ${origin.lines} ` +
          `(line is ${lineSize(piece)})]`
        : `${lines}; of line ${shownRange.start}${ofLine(piece)} the last ${formatSize(piece.bytes)}]`;
  const truncation: Truncation = {
    direction: 'tail',
    truncatedBy: 'bytes',
    totalLines: origin.lines,
    totalBytes: origin.bytes,
    outputLines: tail.range.end - tail.range.start + 1,
    outputBytes: Buffer.byteLength(tail.text),
    shownRange,
  };
  return { text: tail.text, cut: { notice, truncation } };
}

type ShownPiece = NonNullable<Part['piece']>;

function lineSize({ bytes, lineBytes = bytes }: ShownPiece): string {
  return formatSizeBeside(lineBytes, bytes);
}

function ofLine(piece: ShownPiece): string {
  return piece.lineBytes === undefined ? '' : ` (${lineSize(piece)})`;
}

function showEnds(
  head: Part,
  tail: Part,
  { total, lossy }: CutOutput,
  limits: OutputLimits,
  origin: Origin,
): ShownOutput {
  const shownRange = rangeIn(origin, tail.range);
  const headRange = rangeIn(origin, head.range);
  const marker = elisionMarker(
    shownRange.start - headRange.end - 1,
    Math.max(0, total.bytes - printedBytes(head.text, lossy) - printedBytes(tail.text, lossy)),
  );
  const { limitBytes } = origin;
  const [most, last] = [limitBytes ?? limits.headBytes, limitBytes ?? limits.tailBytes];
  const sizes = `${formatSize(most)} + ${formatSize(last)} limit`;
  const ends =
    head.piece === undefined && tail.piece === undefined
      ? `lines ${formatRange(headRange)} and ${formatRange(shownRange)}`
      : `${describe(head, headRange, 'first')} and ${describe(tail, shownRange, 'last')}`;
  const notice = `[Showing ${ends} of ${origin.lines} (${sizes})]`;
  const truncation: Truncation = {
    direction: 'middle',
    truncatedBy: 'bytes',
    totalLines: origin.lines,
    totalBytes: origin.bytes,
    outputLines:
      tail.range.end - Math.max(tail.range.start, head.range.end + 1) + 1 + head.range.end,
    outputBytes: Buffer.byteLength(head.text) + Buffer.byteLength(tail.text),
    shownRange,
    headRange,
  };
  const gap = head.piece === undefined ? '' : '\n';
  const parts = { head: head.text + gap, marker: `${marker}\n`, tail: tail.text };
  return { text: parts.head + parts.marker + parts.tail, parts, cut: { notice, truncation } };
}

/** Describes a part: `lines 1-2`, `lines 1-2 (of line 2 the first 19.5KB)`, `the first 19.5KB of line 1`. */
function describe({ piece }: Part, range: LineRange, which: 'first' | 'last'): string {
  const lines = `lines ${formatRange(range)}`;
  if (piece === undefined) return lines;
  const size = formatSize(piece.bytes);
  const line = which === 'first' ? range.end : range.start;
  if (range.start === range.end) return `the ${which} ${size} of line ${line}${ofLine(piece)}`;
  return `${lines} (of line ${line}${ofLine(piece)} the ${which} ${size})`;
}

/** Makes the line in place of the middle, without a count of lines if only pieces of lines are missing. */
function elisionMarker(lines: number, bytes: number): string {
  const size = formatSize(bytes);
  if (lines <= 0) return `[… ${size} elided …]`;
  return `[… ${formatCount(lines)} ${lines === 1 ? 'line' : 'lines'} elided (${size}) …]`;
}

/** Converts line numbers of a shortened text to those of the original output. */
function rangeIn({ lineNumber }: Origin, { start, end, partial }: LineRange): LineRange {
  const first = lineNumber(start);
  const range = { start: first, end: Math.max(first, lineNumber(end + 1) - 1) };
  return partial ? { ...range, partial } : range;
}

function formatRange(range: LineRange): string {
  return `${range.start}-${range.end}`;
}

/** Settings for outputs. */
export interface OutputSettings {
  /** How much of an output is shown. */
  readonly output: OutputLimits;
  readonly minimizer: Minimizer | undefined;
  /** Undefined: outputs are not kept. */
  readonly artifacts: ArtifactStore | undefined;
  /** The encoding of commands' output; undefined: UTF-8. */
  readonly encoding: string | undefined;
}

/**
 * Keeps an output that is not shown whole. Output with invalid bytes may be too short for a file to be made,
 * and too long as text: then the text is kept.
 */
export function finishOutput(
  result: MergedResult,
  keeper: OutputKeeper,
  settings: OutputSettings,
): KeptOutput | Promise<KeptOutput> {
  const { output: capture, spill } = result;
  if (spill !== undefined && isShownWhole(capture, settings.output) && !keeper.isNamed) {
    return keeper.drop(spill).then(() => ({ kind: 'none' }));
  }
  const kept = keeper.finish(spill);
  return kept instanceof Promise
    ? kept.then((known) => orText(known, result, settings))
    : orText(kept, result, settings);
}

/** Keeps the text where nothing else was kept. */
function orText(
  kept: KeptOutput,
  { output: capture }: MergedResult,
  { output, artifacts }: OutputSettings,
): KeptOutput | Promise<KeptOutput> {
  if (kept.kind !== 'none' || artifacts === undefined || capture.kind === 'cut') return kept;
  if (isShownWhole(capture, output)) return kept;
  return keepText(artifacts, TOOL, capture.text);
}
