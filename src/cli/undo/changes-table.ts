import type { Change, CommandChanges } from '../../index.js';
import { formatSize, visibleText } from '../../support/text.js';
import { aligned } from '../aligned.js';
import { onOneLine } from '../notes.js';
import { describeTime } from '../tasks/table.js';

const HEADINGS = ['ID', 'AGO', 'FILES', 'COMMAND'] as const;
const KINDS = ['created', 'changed', 'deleted', 'renamed'] as const;

/** Returns a table with a line for each command; the headings alone if there is none. */
export function changesTable(all: readonly CommandChanges[], now: number): string {
  const rows: readonly (readonly string[])[] = [
    HEADINGS,
    ...all.map((one) => [
      one.id,
      describeTime(now - one.at),
      filesOf(one),
      onOneLine(one.command ?? '?'),
    ]),
  ];
  return lines(rows);
}

/** Returns a line for each change. */
export function changeLines(list: readonly Change[]): string {
  return lines(list.map((change) => [change.kind, aboutOf(change), pathsOf(change)]));
}

function lines(rows: readonly (readonly string[])[]): string {
  return aligned(rows)
    .map((row) => `${row.join('  ').trimEnd()}\n`)
    .join('');
}

/** Counts the files: `3 created, 1 deleted`, and says what else must be known. */
function filesOf(changes: CommandChanges): string {
  const counts = KINDS.filter((kind) => changes[kind] > 0).map(
    (kind) => `${changes[kind]} ${kind}`,
  );
  const more = [
    ...(changes.complete ? [] : ['not all known']),
    ...(changes.isReverted ? ['reverted'] : []),
    ...(changes.state === 'held' ? ['held'] : []),
  ];
  return [...(counts.length === 0 ? ['none'] : counts), ...more].join(', ');
}

function pathsOf(change: Change): string {
  const path = visibleText(change.path);
  return change.kind === 'renamed' ? `${visibleText(change.from)} -> ${path}` : path;
}

/** Tells sizes or modes. */
function aboutOf(change: Change): string {
  switch (change.kind) {
    case 'created':
      return change.type === 'file' ? formatSize(change.size) : describeType(change);
    case 'deleted':
      return change.type === 'file' ? formatSize(change.sizeBefore) : change.type;
    case 'changed':
      return `${formatSize(change.sizeBefore)} -> ${formatSize(change.size)}`;
    case 'renamed':
      return change.isChanged ? 'changed' : '';
    case 'mode':
      return `${octal(change.modeBefore)} -> ${octal(change.mode)}`;
    case 'attributes':
      return '';
  }
}

function describeType({ type, files }: Extract<Change, { kind: 'created' }>): string {
  if (files === undefined) return type;
  return `${type}, ${files} ${files === 1 ? 'file' : 'files'}`;
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}
