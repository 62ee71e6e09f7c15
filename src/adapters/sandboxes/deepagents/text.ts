import { showValue } from '../../../support/errors.js';
import type { ReadResult } from './backend.js';

/** Returns some lines of a text, and their position in it. */
export function someLines(text: string, offset: number, limit: number): ReadResult {
  const lines = text.split('\n');
  // A newline at the end does not begin another line.
  const totalLines = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const from = wholeOf(offset);
  const to = Math.min(from + wholeOf(limit), totalLines);
  if (from > 0 && from >= totalLines) {
    return { error: `Error: offset ${from} is past the end, the file has ${totalLines} lines` };
  }
  if (to <= from) return { content: '', totalLines };
  const isEnd = to === totalLines;
  return {
    content: lines.slice(from, isEnd ? undefined : to).join('\n'),
    totalLines,
    startLine: from + 1,
    endLine: to,
    ...(!isEnd && { nextOffset: to }),
  };
}

function wholeOf(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0;
}

/**
 * Replaces a text by another one.
 *
 * @throws Error The text is not there, or is there more than once and not all places are to be
 *   replaced.
 */
export function replaceText(
  path: string,
  text: string,
  from: string,
  to: string,
  all: boolean,
): { readonly text: string; readonly occurrences: number } {
  if (from === '') {
    if (text !== '') throw new Error('the text to replace is empty, and the file is not');
    return { text: to, occurrences: 1 };
  }
  const parts = text.split(from);
  const occurrences = parts.length - 1;
  const shown = showValue(from);
  if (occurrences === 0) throw new Error(`${showValue(path)}: the file does not contain ${shown}`);
  if (occurrences > 1 && !all) {
    throw new Error(
      `${showValue(path)}: the file contains ${shown} ${occurrences} times; give more of the text around it, or replace all`,
    );
  }
  return { text: parts.join(to), occurrences };
}
