import type { MinimizerOptions, Omission, OutputFilter } from '../../src/index.js';
import { toText } from '../../src/minimizer/numbered-text.js';
import { createMinimizer } from '../../src/minimizer/options.js';

/** A minimizer, and what it warns of. */
export function make(options: MinimizerOptions = {}) {
  const warnings: string[] = [];
  const minimizer = createMinimizer(options, (message) => warnings.push(message));
  if (minimizer === undefined) throw new Error('expected a minimizer');
  const shorten = async (text: string, command = 'x', endedWell = true) => {
    const result = await minimizer.minimize(text, command, endedWell);
    return { ...result, text: toText(result.minimized) };
  };
  return { shorten, warnings };
}

/** Leaves out what it is told to. */
export const omitting = (...omissions: Omission[]): OutputFilter => ({
  name: 'mine',
  filter: () => omissions,
});

/** Lines that are all different. */
export const noise = (count: number, what = 'noise'): string[] =>
  Array.from({ length: count }, (_, index) => `some ${what} that nobody needs, number ${index}`);
