import type { Capture, MergedResult, SeparateResult } from '../engine/outcome.js';

/** The exit code with which shells report SIGPIPE. */
const BROKEN_PIPE = 141;

type Printed =
  | Pick<MergedResult, 'outcome' | 'output'>
  | Pick<SeparateResult, 'outcome' | 'stdout' | 'stderr'>;

/**
 * Returns whether a command tells of a program whose reader had stopped reading: by its exit code, or by one
 * that it has printed.
 *
 * @param text The command's text.
 */
export function saysBrokenPipe(result: Printed, text: string): boolean {
  const { outcome } = result;
  if (outcome.kind !== 'exited') return false;
  if (outcome.exitCode === BROKEN_PIPE) return true;
  if (!text.includes('PIPESTATUS')) return false;
  const captures = 'output' in result ? [result.output] : [result.stdout, result.stderr];
  return captures.some(has141);
}

function has141(capture: Capture): boolean {
  const texts = capture.kind === 'complete' ? [capture.text] : [capture.head, capture.tail];
  return texts.some((text) => /\b141\b/.test(text));
}
