import { shellQuote } from '../../support/quote.js';
import { formatCount, formatSize } from '../../support/text.js';
import { readableLook, type SkippedOutput, type TaskLook } from '../../tasks/look/look.js';
import type { LookAim } from '../../tasks/look/windows.js';
import type { Task } from '../../tasks/task.js';
import { NOTHING_NEW, ONLY_BLANKS, outputText, stoppedNotice } from '../notices.js';

/** Describes a task in one line, for a list. */
export function taskLine(task: Task): string {
  const { id, result = 'running', label, durationMs } = task.status();
  const time = `${(durationMs / 1000).toFixed(2)} seconds`;
  switch (task.state) {
    case 'running':
      return `${id} running for ${time}: ${label}`;
    case 'ended':
      return `${id} ${result} after ${time}: ${label}`;
    // 'completed' would say that nothing of it runs any more.
    case 'left':
      return `${id} ended after ${time}, and processes of it still run: ${label}`;
    case 'lost':
      return `${id} ended after ${time}, and whether processes of it still run is not known: ${label}`;
  }
}

/** The output of a task since the model has looked. */
export interface NewOutput {
  /** The output, with a line for each part that was skipped; empty when there is none. */
  readonly text: string;
  /** The same, or a remark when it is blank. */
  readonly shown: string;
  /** One line that says that the task is stopped, and how it goes on; it is in `shown` too. */
  readonly stopped: string | undefined;
}

/**
 * Reads what a task has printed since the model looked last, without the newlines at the end. Of more than
 * fits, the part that the model has asked for is shown, and a line says where the rest is.
 *
 * @param aim Default: what was printed last.
 */
export async function newOutput(task: Task, aim?: LookAim, maxBytes?: number): Promise<NewOutput> {
  const isRunning = task.end === undefined;
  const look = await task.look(aim, maxBytes);
  const text = lookText(look);
  const shown = text.trim() === '' ? remarkOn(look, isRunning) : text;
  const stopped = stoppedNotice(look.stopped);
  return { text, shown: stopped === undefined ? shown : `${shown}\n\n${stopped}`, stopped };
}

/** Shows a look: its output as a person reads it, and what was skipped. */
function lookText({ parts, rest, place }: TaskLook): string {
  const shown = parts.map((part) =>
    part.kind === 'text' ? ownLine(readableLook(part.text)) : `${skippedLine(part, place)}\n`,
  );
  const after = rest === undefined ? '' : `[… ${amountOf(rest)} more: look again …]`;
  return `${shown.join('').replace(/^\n+/, '')}${after}`.trimEnd();
}

/** Says what a look has skipped; undefined: nothing. */
export function skippedText({ parts, place }: TaskLook): string | undefined {
  const lines = parts.flatMap((part) => (part.kind === 'text' ? [] : [skippedLine(part, place)]));
  return lines.length === 0 ? undefined : lines.join('\n');
}

/** The remark in place of output that is blank. */
function remarkOn({ newBytes, total }: TaskLook, isRunning: boolean): string {
  if (total === 0) return outputText('', isRunning ? 'running' : 'ended');
  return newBytes === 0 ? NOTHING_NEW : ONLY_BLANKS;
}

const ownLine = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** Bytes and lines that a command in a notice shows: about as much as a look. */
const SUGGESTED_BYTES = 16 * 1024;
const SUGGESTED_LINES = 200;

/** Says how much was skipped, and where it is, with a command that shows a part of it. */
function skippedLine(skipped: SkippedOutput, place: TaskLook['place']): string {
  const what = `${amountOf(skipped)} skipped`;
  if (place === undefined) return `[… ${what}; no file has them …]`;
  const name = shellQuote(place.name);
  if (!place.isExact) return `[… ${what}. They are in ${name} …]`;
  if (place.bytes < skipped.to) {
    return `[… ${what}. ${name} has the first ${formatSize(place.bytes)} of the output …]`;
  }
  const { command, showsAll } = commandFor(skipped, name);
  if (showsAll) return `[… ${what}. To read them: ${command} …]`;
  return `[… ${what}. They are in ${name}; the last of them: ${command} …]`;
}

function amountOf({ from, to, lines }: SkippedOutput): string {
  const bytes = `${formatCount(to - from)} bytes`;
  if (lines === undefined || lines === 0) return bytes;
  return `${bytes} (${formatCount(lines)} ${lines === 1 ? 'line' : 'lines'})`;
}

/** Makes a command that shows the end of skipped output; no program in it stops reading before the end. */
function commandFor(
  { from, to, lines, firstLine, endsInLine }: SkippedOutput,
  file: string,
): { readonly command: string; readonly showsAll: boolean } {
  const bytes = to - from;
  const fitting = lines ? Math.floor(SUGGESTED_BYTES / (bytes / lines)) : 0;
  if (lines === undefined || firstLine === undefined || fitting < 1) {
    const last = Math.min(bytes, SUGGESTED_BYTES);
    return { command: `head -c ${to} ${file} | tail -c ${last}`, showsAll: last === bytes };
  }
  const end = firstLine + lines - (endsInLine ? 0 : 1);
  const first = Math.max(firstLine, end - Math.min(fitting, SUGGESTED_LINES) + 1);
  return { command: `sed -n ${first},${end}p ${file}`, showsAll: first === firstLine };
}
