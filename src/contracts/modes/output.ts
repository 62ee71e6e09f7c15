import type { KeptOutput } from '../../artifacts/keep-output.js';
import type { Capture, MergedResult } from '../../engine/outcome.js';
import type { OutputLimits } from '../../options/command-options.js';
import { firstBytes, formatSize, formatSizeBeside, lastBytes } from '../../support/text.js';
import { readableOutput } from '../lossy.js';
import { placeNotice } from '../notices.js';

/** How much is returned, in bytes. */
interface SnipLimits {
  /** The longest output that is returned whole. */
  readonly maxOutputBytes: number;
  /** Bytes of each end of longer output. */
  readonly snipBytes: number;
}

/**
 * What the engine must keep for {@link snipOutput}: all that may be returned whole, and no more.
 */
export function limitsToSnip({ maxOutputBytes, snipBytes }: SnipLimits): OutputLimits {
  return { headBytes: snipBytes, tailBytes: maxOutputBytes - snipBytes };
}

/** Output with its middle left out, if it was too long. */
interface SnippedText {
  readonly text: string;
  /** How long it was; present when its middle is left out. */
  readonly totalBytes?: number;
}

/**
 * The text to return for a capture made with {@link limitsToSnip}: all of it, or both ends of it,
 * cut between characters, under a line that says how long it was.
 */
export function snipOutput(capture: Capture, limits: SnipLimits): SnippedText {
  if (capture.kind === 'cut') {
    return snip(capture.head, capture.tail, capture.total.bytes, limits);
  }
  const { text } = capture;
  // What is not UTF-8 is three bytes long as U+FFFD: it may fit as it was, and not as text.
  const bytes = capture.lossy ? Buffer.byteLength(text) : capture.total.bytes;
  if (bytes <= limits.maxOutputBytes) return { text };
  return snip(text, text, bytes, limits);
}

/** Output as it is returned. */
export interface SnippedOutput extends SnippedText {
  /** Where all of it is, if it was kept. */
  readonly path?: string;
  /** Not all of it is in `text`. */
  readonly isCut: boolean;
  /** A line each on what is not in `text`, and on what of it is no text. */
  readonly notices: readonly (string | undefined)[];
}

/** What there is to show of an output, and to say of it. */
export function showOutput(
  snipped: SnippedText,
  { output, spill }: MergedResult,
  kept: KeptOutput,
): SnippedOutput {
  const isSnipped = snipped.totalBytes !== undefined;
  const path = kept.kind === 'kept' ? kept.artifact.path : undefined;
  const place = kept.kind === 'kept' ? placeNotice(kept.artifact.path, kept) : undefined;
  const whole = isSnipped && place !== undefined ? `whole output: ${place}` : undefined;
  const found = path === undefined ? snipped : { ...snipped, path };
  if (!output.lossy) return { ...found, isCut: isSnipped, notices: [whole] };
  // Only a file of the engine's has the exact bytes.
  const exact = spill && place;
  const readable = readableOutput(snipped.text, output, 'the output', exact);
  const { text, notice, isCut, isBinary } = readable;
  // Of what is not text, the line that stands for it says where it is.
  const notices = [isBinary ? undefined : whole, notice];
  return { ...found, text, isCut: isSnipped || isCut, notices };
}

function snip(
  head: string,
  tail: string,
  totalBytes: number,
  { maxOutputBytes, snipBytes }: SnipLimits,
): SnippedText {
  const sizes = `got ${formatSizeBeside(totalBytes, maxOutputBytes)}, max is ${formatSize(maxOutputBytes)}`;
  const text =
    `[output truncated in middle: ${sizes}]\n` +
    `${firstBytes(head, snipBytes)}\n\n[snip]\n\n${lastBytes(tail, snipBytes)}`;
  return { text, totalBytes };
}
