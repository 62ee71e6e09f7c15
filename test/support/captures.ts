import type { Capture, Counts } from '../../src/engine/outcome.js';
import type { OutputLimits } from '../../src/options/command-options.js';
import { firstBytes, lastBytes } from '../../src/support/text.js';

/** The capture that the engine would make of a whole output. */
export function captureOf(text: string, { headBytes, tailBytes }: OutputLimits): Capture {
  const total = countsOf(text);
  if (total.bytes <= headBytes + tailBytes) return { kind: 'complete', text, total, lossy: false };
  const head = firstBytes(text, headBytes);
  const tail = lastBytes(text, tailBytes);
  const dropped = countsOf(text.slice(head.length, text.length - tail.length));
  const lastLineBytes = Buffer.byteLength(linesOf(text).at(-1)?.replace(/\n$/, '') ?? '');
  return { kind: 'cut', head, tail, dropped, total, lastLineBytes, lossy: false };
}

export function countsOf(text: string): Counts {
  return {
    bytes: Buffer.byteLength(text),
    characters: [...text].length,
    lines: linesOf(text).length,
  };
}

/** Lines with their newlines; a final newline begins no further one. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
