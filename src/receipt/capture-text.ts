import type { Capture } from '../engine/outcome.js';
import { formatCount, formatSize } from '../support/text.js';

/**
 * Returns the kept part of a stream as one text; a line stands for the dropped middle and says how much
 * it was.
 */
export function textOf(capture: Capture): string {
  if (capture.kind === 'complete') return capture.text;
  const { head, tail, dropped } = capture;
  const lines = dropped.lines === 1 ? '1 line' : `${formatCount(dropped.lines)} lines`;
  const before = head === '' || head.endsWith('\n') ? head : `${head}\n`;
  return `${before}[… ${formatSize(dropped.bytes)}, ${lines}, not shown …]\n${tail}`;
}
