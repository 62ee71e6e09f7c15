import type { Held } from '../../index.js';
import { visibleText } from '../../support/text.js';
import { aligned } from '../aligned.js';
import { describeTime } from '../tasks/table.js';

const HEADINGS = ['ID', 'AGO', 'PATH', 'WHY'] as const;

/** Returns a table with a line for each held change; the headings alone if there is none. */
export function heldTable(all: readonly Held[], now: number): string {
  const rows: readonly (readonly string[])[] = [
    HEADINGS,
    ...all.map((one) => [one.id, describeTime(now - one.at), visibleText(one.path), whyOf(one)]),
  ];
  return aligned(rows)
    .map((row) => `${row.join('  ').trimEnd()}\n`)
    .join('');
}

function whyOf({ reason, keys }: Held): string {
  return keys === undefined ? reason : `${reason}: ${keys.map(visibleText).join(', ')}`;
}
