import type { TaskNews } from '../lookout/lookout.js';
import type { WatchName } from './notify.js';

/** How an event relates to the `notify` of its task. */
export interface Marks {
  /** The watch that this answers; told once. */
  readonly watch?: WatchName;
  /** With an end: the watches that can't come true any more. */
  readonly unmet?: readonly WatchName[];
}

/** An event of a task, with its marks. */
export type ToldNews = TaskNews & Marks;

/** Returns whether this is about an end, after which there is less to look for. */
export function isEnd({ kind }: TaskNews): boolean {
  return kind === 'ended' || kind === 'gone' || kind === 'lost';
}

/**
 * Returns the watches that can't come true after an end. A process that was left may still open a port; its
 * output is not kept.
 */
export function closedBy(news: TaskNews): readonly WatchName[] {
  switch (news.kind) {
    case 'ended':
      return news.running === 0 ? ['line', 'port', 'silent'] : ['line', 'silent'];
    case 'gone':
      return ['line', 'port', 'silent'];
    case 'lost':
      return ['line', 'port', 'silent', 'ended'];
    default:
      return [];
  }
}

/** Returns whether two looks have found the same thing. */
function isSame(one: TaskNews, other: TaskNews): boolean {
  if (one === other) return true;
  if (one.kind === 'line') return other.kind === 'line' && one.line === other.line;
  if (one.kind === 'silent') return other.kind === 'silent';
  if (one.kind !== 'listening' || other.kind !== 'listening') return false;
  return one.port === other.port && one.address === other.address;
}

/** Marks an event among the others, or adds it, before the ends. */
export function markIn(all: readonly ToldNews[], news: TaskNews, mark: Marks): readonly ToldNews[] {
  const at = all.findIndex((one) => one.watch === undefined && isSame(one, news));
  if (at >= 0) return all.map((one, index) => (index === at ? { ...one, ...mark } : one));
  const end = isEnd(news) ? -1 : all.findIndex(isEnd);
  const before = end < 0 ? all.length : end;
  return [...all.slice(0, before), { ...news, ...mark }, ...all.slice(before)];
}
