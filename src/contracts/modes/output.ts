import type { OutputLimits } from '../../command/options.js';
import type { Capture } from '../../engine/outcome.js';
import { firstBytes, formatSize, formatSizeBeside, lastBytes } from '../../support/text.js';

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

/** Output as it is returned. */
export interface SnippedOutput {
  readonly text: string;
  /** Where all of it is, if it was kept. */
  readonly path?: string;
  /** How long it was; present when its middle is left out. */
  readonly totalBytes?: number;
}

/**
 * The text to return for a capture made with {@link limitsToSnip}: all of it, or both ends of it,
 * cut between characters, under a line that says how long it was.
 */
export function snipOutput(capture: Capture, limits: SnipLimits): SnippedOutput {
  if (capture.kind === 'cut') {
    return snip(capture.head, capture.tail, capture.total.bytes, limits);
  }
  const { text } = capture;
  // What is not UTF-8 is three bytes long as U+FFFD: it may fit as it was, and not as text.
  const bytes = capture.lossy ? Buffer.byteLength(text) : capture.total.bytes;
  if (bytes <= limits.maxOutputBytes) return { text };
  return snip(text, text, bytes, limits);
}

function snip(
  head: string,
  tail: string,
  totalBytes: number,
  { maxOutputBytes, snipBytes }: SnipLimits,
): SnippedOutput {
  const sizes = `got ${formatSizeBeside(totalBytes, maxOutputBytes)}, max is ${formatSize(maxOutputBytes)}`;
  const text =
    `[output truncated in middle: ${sizes}]\n` +
    `${firstBytes(head, snipBytes)}\n\n[snip]\n\n${lastBytes(tail, snipBytes)}`;
  return { text, totalBytes };
}
