import { stat } from 'node:fs/promises';
import type { BackgroundProcess } from '../../engine/outcome.js';
import { cleanTerminalText } from '../../minimizer/terminal-text.js';
import { settlesWithin } from '../../support/timing.js';
import { stoppedOf } from '../lookout/stopped.js';
import { firstWhole, lastWhole } from '../output.js';
import type { TaskSubject } from '../subject.js';
import { newlinesBetween, newlinesIn, readStretch } from './stretch.js';
import { type LookAim, type LookWindow, windowsOf } from './windows.js';

/** Bytes of new output that a look shows. */
export const LOOK_BYTES = 16 * 1024;

/** The longest wait for the processes of a task, in milliseconds. */
const MEMBERS_MS = 1000;

/** How far the output has been shown. */
export interface SeenOutput {
  /** Position of the first byte that was not shown. */
  readonly position: number;
  /** Newlines before it; undefined: not known. */
  readonly newlines: number | undefined;
}

/** Output that a look does not show. */
export interface SkippedOutput {
  /** Position of its first byte. */
  readonly from: number;
  /** Position after its last byte. */
  readonly to: number;
  /** Whole lines in it; undefined: not known. */
  readonly lines: number | undefined;
  /** Number of the line in which it begins, from 1; undefined: not known. */
  readonly firstLine: number | undefined;
  /** Whether it ends within a line. */
  readonly endsInLine: boolean;
}

/** Output that is shown, or skipped. */
type LookPart =
  | { readonly kind: 'text'; readonly text: string; readonly from: number; readonly to: number }
  | ({ readonly kind: 'skipped' } & SkippedOutput);

/** Where the output of a task can be read while it runs. */
export interface OutputPlace {
  /** The file. */
  readonly path: string;
  /** The file as a model names it: its path, or `artifact://3`. */
  readonly name: string;
}

/** The same with what is in the file. */
export interface SizedPlace extends OutputPlace {
  /** Size of the file, in bytes. */
  readonly bytes: number;
  /** Whether positions of the output are those of the file's bytes. */
  readonly isExact: boolean;
}

/** A look at a task's output. */
export interface TaskLook {
  /** Shown and skipped output, in order. */
  readonly parts: readonly LookPart[];
  /** Output after that, which is for the next look. */
  readonly rest: SkippedOutput | undefined;
  /** Bytes that were new. */
  readonly newBytes: number;
  /** Bytes printed so far. */
  readonly total: number;
  /** Stopped processes of the task: SIGCONT lets them go on. */
  readonly stopped: readonly BackgroundProcess[];
  /** Where skipped output can be read, and how much of the output is there; undefined: nowhere. */
  readonly place?: SizedPlace | undefined;
}

/**
 * Shows the output since the last look, on whole lines and as a person reads it: of more than fits the part
 * that `aim` says, with what was skipped.
 *
 * @returns The look, and how far the output was shown by it.
 */
export async function lookAt(
  subject: TaskSubject,
  seen: SeenOutput,
  aim: LookAim,
  maxBytes: number,
): Promise<{ readonly look: TaskLook; readonly seen: SeenOutput }> {
  const isRunning = subject.state.kind === 'running';
  const printed = await subject.read(Number.MAX_SAFE_INTEGER, 0);
  const total = Math.min(printed.total, aim.kind === 'end' ? (aim.upTo ?? Infinity) : Infinity);
  const walk = new Walk(subject, seen);
  for (const window of windowsOf(aim, seen.position, total, maxBytes)) {
    const mayGrow = isRunning && window.to === total;
    await walk.show(window, { mayGrow, isEnd: window.to === total });
  }
  const now = walk.seen;
  // A character that has not come whole is not counted as output that waits.
  const rest = total - now.position < 4 ? undefined : await walk.skipped(total);
  const newBytes = now.position - seen.position;
  const isSeen = isRunning && !subject.isElsewhere;
  const stopped = isSeen ? await stoppedNow(subject) : [];
  const look = { parts: walk.parts, rest, newBytes, total, stopped };
  return { look, seen: now };
}

/** Returns its stopped processes; none when they cannot be seen in time, as before its start. */
async function stoppedNow(subject: TaskSubject): Promise<readonly BackgroundProcess[]> {
  const asking = subject.members();
  return (await settlesWithin(asking, MEMBERS_MS)) ? stoppedOf((await asking) ?? []) : [];
}

/** Goes through the output, and notes what is shown and what is not. */
class Walk {
  readonly parts: LookPart[] = [];
  readonly #subject: TaskSubject;
  #seen: SeenOutput;

  constructor(subject: TaskSubject, seen: SeenOutput) {
    this.#subject = subject;
    this.#seen = seen;
  }

  get seen(): SeenOutput {
    return this.#seen;
  }

  /** Shows a window, without the parts of lines at its ends. */
  async show(window: LookWindow, end: { mayGrow: boolean; isEnd: boolean }): Promise<void> {
    const pieces = await readStretch(this.#subject, window.from, window.to);
    for (const [index, { from, bytes }] of pieces.entries()) {
      const isCut = from > this.#seen.position;
      const first = isCut ? beginOf(bytes, window.core.from - from) : 0;
      const isLast = index === pieces.length - 1;
      const last = isLast ? endOf(bytes, window.core.to - from, end) : bytes.length;
      await this.#skipTo(from + first);
      this.#tell(bytes.subarray(first, Math.max(first, last)));
    }
    if (end.isEnd && pieces.length === 0) await this.#skipTo(window.to);
  }

  /** Describes the output from here to a position. */
  async skipped(to: number): Promise<SkippedOutput> {
    const { position, newlines } = this.#seen;
    const lines = await newlinesBetween(this.#subject, position, to);
    const [last] = await readStretch(this.#subject, to - 1, to);
    const endsInLine = last?.bytes[0] !== NEWLINE;
    const firstLine = newlines === undefined ? undefined : newlines + 1;
    return { from: position, to, lines, firstLine, endsInLine };
  }

  async #skipTo(to: number): Promise<void> {
    if (to <= this.#seen.position) return;
    const skipped = await this.skipped(to);
    this.parts.push({ kind: 'skipped', ...skipped });
    this.#advance(to, skipped.lines);
  }

  #tell(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const from = this.#seen.position;
    const to = from + bytes.length;
    this.#advance(to, newlinesIn(bytes));
    this.parts.push({ kind: 'text', text: Buffer.from(bytes).toString('utf8'), from, to });
  }

  #advance(position: number, added: number | undefined): void {
    const { newlines } = this.#seen;
    const isKnown = newlines !== undefined && added !== undefined;
    this.#seen = { position, newlines: isKnown ? newlines + added : undefined };
  }
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Returns where a line begins in output that may begin within one: before `core` if possible, else a drawing
 * of a line, else a character.
 */
function beginOf(bytes: Uint8Array, core: number): number {
  for (const sign of [NEWLINE, RETURN]) {
    const begin = bytes.indexOf(sign) + 1;
    if (begin > 0 && begin < bytes.length && begin <= Math.max(0, core)) return begin;
  }
  return firstWhole(bytes);
}

/** Returns where the last line ends in output that may end within one, but not before `core`. */
function endOf(
  bytes: Uint8Array,
  core: number,
  { mayGrow, isEnd }: { readonly mayGrow: boolean; readonly isEnd: boolean },
): number {
  if (isEnd) return mayGrow ? lastWhole(bytes) : bytes.length;
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return end > 0 && end >= core ? end : lastWhole(bytes);
}

/** Returns shown output as a person reads it: lines as they were drawn last, without escape sequences. */
export function readableLook(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal acts upon
  return /[\x1b\u0080-\u009f\x08]|\r(?!\n)/.test(text) ? cleanTerminalText(text) : text;
}

/** Adds how much of a task's output is in its file; undefined: there is no such file here. */
export async function placeWithSize(
  place: OutputPlace,
  { isExact = true, isElsewhere }: TaskSubject,
): Promise<SizedPlace | undefined> {
  if (isElsewhere) return undefined;
  const found = await stat(place.path).catch(() => undefined);
  return found?.isFile() ? { ...place, bytes: found.size, isExact } : undefined;
}
