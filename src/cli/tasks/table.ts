import type { Outcome, TaskSummary } from '../../index.js';
import { aligned } from '../aligned.js';
import { onOneLine } from '../notes.js';

const HEADINGS = ['ID', 'STATE', 'TIME', 'PID'] as const;

/** The width of a line where the terminal's is not known. */
const USUAL_WIDTH = 120;

/**
 * Returns a table with a line for each task; the headings alone if there is none. Published ports have a column
 * where there are any.
 */
export function taskTable(tasks: readonly TaskSummary[], now: number): string {
  const hasPorts = tasks.some(({ ports }) => ports !== undefined);
  const portsOf = (cell: string): readonly string[] => (hasPorts ? [cell] : []);
  const rows: readonly (readonly string[])[] = [
    [...HEADINGS, ...portsOf('PORTS'), 'COMMAND'],
    ...tasks.map((task) => [
      task.id,
      describeState(task),
      describeTime((task.endedAt ?? now) - task.startedAt),
      task.pid === 0 ? '?' : String(task.pid),
      ...portsOf(describePorts(task)),
      onOneLine(task.command || '?'),
    ]),
  ];
  const room = process.stdout.columns ?? USUAL_WIDTH;
  const line = (row: readonly string[]): string => {
    const start = `${row.slice(0, -1).join('  ')}  `;
    return `${start}${shortened(row.at(-1) ?? '', Math.max(20, room - start.length))}\n`;
  };
  return aligned(rows).map(line).join('');
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function describeState({ state, outcome, trouble }: TaskSummary): string {
  if (outcome === undefined) return state === 'running' && trouble ? 'running?' : state;
  const ended = describeOutcome(outcome);
  return state === 'left' ? `${ended}, processes left` : ended;
}

/** Names the way to each port, and the port inside where it is another. */
function describePorts({ ports = [] }: TaskSummary): string {
  return ports
    .map(({ inside, url }) => (url.endsWith(`:${inside}`) ? url : `${inside} at ${url}`))
    .join(', ');
}

function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'exited':
      return `exited ${outcome.exitCode}`;
    case 'signaled':
      return outcome.signal;
    case 'timedOut':
      return 'timed out';
    case 'cancelled':
      return 'was ended';
    case 'unknown':
      return 'ended';
  }
}

/** Describes a time: `7s`, `3m05s`, `2h04m`, `5d06h`. */
export function describeTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [
    [86_400, 'd', 3600, 'h'],
    [3600, 'h', 60, 'm'],
    [60, 'm', 1, 's'],
  ] as const;
  for (const [large, largeName, small, smallName] of parts) {
    if (seconds < large) continue;
    const rest = Math.floor((seconds % large) / small);
    return `${Math.floor(seconds / large)}${largeName}${String(rest).padStart(2, '0')}${smallName}`;
  }
  return `${seconds}s`;
}
