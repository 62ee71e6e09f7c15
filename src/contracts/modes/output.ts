import type { KeptOutput } from '../../artifacts/keep-output.js';
import type { Capture, MergedResult } from '../../engine/outcome.js';
import type { OutputLimits } from '../../options/command-options.js';
import { firstBytes, formatSize, formatSizeBeside, lastBytes } from '../../support/text.js';
import { readableOutput } from '../lossy.js';
import { placeNotice } from '../notices.js';

/** Limits of the output that is returned, in bytes. */
interface SnipLimits {
  /** The longest output that is returned whole. */
  readonly maxOutputBytes: number;
  /** Bytes of each end of longer output. */
  readonly snipBytes: number;
}

/** The limits of a capture for {@link snipOutput}: all that may be returned whole, and no more. */
export function limitsToSnip({ maxOutputBytes, snipBytes }: SnipLimits): OutputLimits {
  return { headBytes: snipBytes, tailBytes: maxOutputBytes - snipBytes };
}

/** Output, without its middle if it was too long. */
interface SnippedText {
  readonly text: string;
  /** Length of the whole output; present when the middle is left out. */
  readonly totalBytes?: number;
}

/**
 * Returns the text of a capture made with {@link limitsToSnip}: all of it, or both of its ends, cut between
 * characters, below a line with the length.
 */
export function snipOutput(capture: Capture, limits: SnipLimits): SnippedText {
  if (capture.kind === 'cut') {
    return snip(capture.head, capture.tail, capture.total.bytes, limits);
  }
  const { text } = capture;
  // An invalid byte becomes U+FFFD, three bytes: the text may be too long although the output was not.
  const bytes = capture.lossy ? Buffer.byteLength(text) : capture.total.bytes;
  if (bytes <= limits.maxOutputBytes) return { text };
  return snip(text, text, bytes, limits);
}

/** Output as it is shown. */
export interface SnippedOutput extends SnippedText {
  /** The file with all of the output, if it was kept. */
  readonly path?: string;
  /** Whether a part of the output is not in `text`. */
  readonly isCut: boolean;
  /** One line about what is not in `text`, and one about bytes that are no text. */
  readonly notices: readonly (string | undefined)[];
}

/** Makes the shown output, with the lines that are said about it. */
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
  // Only a file that the engine wrote has the exact bytes.
  const exact = spill && place;
  const asText = spill ? undefined : place;
  const readable = readableOutput(snipped.text, output, 'the output', exact, asText);
  const { text, notice, isCut } = readable;
  // The line that stands for binary output says where it is.
  const notices = [isCut ? undefined : whole, notice];
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
