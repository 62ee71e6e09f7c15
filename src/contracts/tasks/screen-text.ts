import { formatSize, lastBytes } from '../../support/text.js';
import type { LookAim } from '../../tasks/look/windows.js';
import type { Task } from '../../tasks/task.js';
import type { ScreenNews } from '../../terminal/screen/screen-news.js';
import { outputText } from '../notices.js';
import { type NewOutput, newOutput } from './task-text.js';
import { saysWait, waitText } from './wait-text.js';

/** UTF-8 bytes of a screen that are shown at a time: the last ones. */
const SHOWN_BYTES = 16 * 1024;
/** The number of equal rows from which on one stands for all. */
const MANY_ROWS = 4;

/**
 * Returns what a task's terminal shows, for a model.
 *
 * @param wanted `new`: what was not told yet; `all`: the whole screen, told or not.
 */
export async function screenOf(task: Task, wanted: 'new' | 'all'): Promise<NewOutput> {
  const news = await task.screenNews(wanted);
  const hasEnded = task.end !== undefined;
  const text = news.kind === 'same' ? '' : screenText(news, task.outputFile, hasEnded);
  const isSame = news.kind === 'same' && !hasEnded;
  const shown = isSame ? UNCHANGED : outputText(text, hasEnded ? 'ended' : 'running');
  return { text, shown, stopped: undefined };
}

/** The remark in place of a screen that was told before. */
const UNCHANGED = '[The screen has not changed.]';

/** Returns what is new on a task's terminal, or in its output: of that the part that `aim` says. */
export function unseenOf(task: Task, aim?: LookAim): Promise<NewOutput> {
  return task.terminal === undefined ? newOutput(task, aim) : screenOf(task, 'new');
}

/**
 * Says what a task waits for, if it was seen to, and `event` does not say it.
 *
 * @param event One line about what has happened.
 */
export async function waitLine(task: Task, event: string | undefined): Promise<string | undefined> {
  if (task.terminal === undefined || task.end !== undefined) return event;
  if (event !== undefined && saysWait(event)) return event;
  const wait = await task.waitsFor();
  const lines = [event, wait && waitText(wait)].filter((one) => one !== undefined);
  return lines.join('\n') || undefined;
}

/**
 * @param file The file with all that was printed, for what is not shown.
 * @param hasEnded Whether nothing can be typed any more.
 */
function screenText(
  { rows, cursor, highlights, hasGap }: ScreenNews,
  file: string | undefined,
  hasEnded: boolean,
): string {
  const all = foldedRows(rows).join('\n');
  const shown = lastBytes(all, SHOWN_BYTES);
  const where = file === undefined ? '' : `; all that was printed: ${file}`;
  const left = all.length - shown.length;
  const before =
    left > 0
      ? [`[… ${formatSize(Buffer.byteLength(all) - Buffer.byteLength(shown))} not shown${where} …]`]
      : hasGap
        ? [`[… earlier lines not shown${where} …]`]
        : [];
  const notes = [
    ...(cursor === undefined || hasEnded
      ? []
      : [`cursor: row ${cursor.row}, column ${cursor.column}`]),
    ...(highlights.length === 0 || hasEnded
      ? []
      : [`highlighted: ${highlights.map(quoted).join(', ')}`]),
  ];
  const after = notes.length === 0 ? [] : [`[${notes.join('; ')}]`];
  const text = left > 0 ? shown.slice(shown.indexOf('\n') + 1) : shown;
  return [...before, text, ...after].join('\n');
}

const quoted = (text: string): string => JSON.stringify(text);

/** Lets one row stand for many equal ones, such as the `~` of an editor. */
function foldedRows(rows: readonly string[]): string[] {
  const folded: string[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] ?? '';
    let end = at + 1;
    while (rows[end] === row) end += 1;
    const count = end - at;
    if (count < MANY_ROWS) folded.push(...rows.slice(at, end));
    else if (row === '') folded.push(`[… ${count} blank rows …]`);
    else folded.push(row, `[… ${count - 1} more rows like it …]`);
    at = end;
  }
  return folded;
}
