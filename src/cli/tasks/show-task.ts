import { isatty } from 'node:tty';
import type { DetachedSubject, SubjectState } from '../../index.js';
import { signalExitCode } from '../../support/signals.js';
import { settlesWithin } from '../../support/timing.js';
import { outcomeCode, UNKNOWN_STATUS, writtenCode } from '../exit-code.js';
import { note, noteSandbox } from '../notes.js';
import { feed, hasInput } from '../run/standard-input.js';
import { OutputClosedError, writeStandardOutput } from '../standard-output.js';
import { AttachSignals } from './attach-signals.js';

/** Bytes of output that are read at a time. */
const STRETCH = 256 * 1024;

/** The wait without a limit. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

/** Shows a task until its command has ended, or the user leaves it. Returns the exit code. */
export async function showTask(subject: DetachedSubject): Promise<number> {
  const signals = new AttachSignals(subject);
  const isFed = subject.record.hasInput && (isatty(0) || hasInput());
  const write = (bytes: Uint8Array) => subject.write(bytes);
  const letGo = isFed ? feed({ write, end: () => subject.closeInput() }) : undefined;
  try {
    const state = await follow(subject, signals.left);
    return state === undefined ? leave(subject, signals.leftBy) : await conclude(subject, state);
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error;
    if (!error.quiet) note(error.message);
    return writtenCode(0, error);
  } finally {
    letGo?.();
    signals.release();
  }
}

/** Prints the output so far and as it comes. Returns `undefined` when the user has left. */
async function follow(
  subject: DetachedSubject,
  left: Promise<void>,
): Promise<SubjectState | undefined> {
  let cursor = 0;
  let trouble: string | undefined;
  let tell = (): void => {};
  let isLeft = false;
  void left.then(() => {
    isLeft = true;
    tell();
  });
  const stop = subject.watch(() => tell());
  try {
    for (;;) {
      const told = new Promise<void>((resolve) => (tell = resolve));
      // Taken before the output is read: after an end there is no more of it.
      const { state } = subject;
      if (state.kind === 'running' && state.trouble !== trouble) {
        trouble = state.trouble;
        if (trouble !== undefined) note(trouble);
      }
      cursor = await print(subject, cursor, () => isLeft);
      if (isLeft) return undefined;
      if (state.kind !== 'running') return state;
      await settlesWithin(told, FOR_EVER_MS, 'keepsAlive');
    }
  } finally {
    stop();
  }
}

/** Prints the output from a position on. Returns where it ends. */
async function print(
  subject: DetachedSubject,
  since: number,
  isOver: () => boolean,
): Promise<number> {
  let cursor = since;
  while (!isOver()) {
    const { bytes, from } = await subject.read(cursor, STRETCH);
    if (bytes.length === 0) break;
    if (from > cursor) note(`${from - cursor} bytes of its output were cut out here`);
    await writeStandardOutput(bytes);
    cursor = from + bytes.length;
  }
  return cursor;
}

/** Returns the exit code when the user has left, by the key of a signal or by another signal. */
export function leave({ id }: DetachedSubject, signal: NodeJS.Signals): number {
  if (signal !== 'SIGQUIT') return signalExitCode(signal);
  note(`the task goes on; forkline attach ${id} shows it again`);
  return 0;
}

/** Tells how a task stands. Returns the exit code. */
export async function conclude(subject: DetachedSubject, state: SubjectState): Promise<number> {
  switch (state.kind) {
    case 'running':
      return 0;
    case 'lost':
      note(state.reason);
      return UNKNOWN_STATUS;
    case 'left': {
      const members = await subject.members();
      const count = members?.length ?? 'perhaps some';
      note(`the command has ended, and ${count} of its processes still run; --end ends them`);
      noteSandbox(state.receipt.sandbox);
      return outcomeCode(state.receipt.outcome, undefined);
    }
    case 'ended':
      noteSandbox(state.receipt?.sandbox);
      return state.receipt === undefined
        ? UNKNOWN_STATUS
        : outcomeCode(state.receipt.outcome, undefined);
  }
}

/** The exit code when a process of the task can't be ended, or its end is not known. */
const NOT_ENDED = 1;

/** Ends a task. Returns the exit code. */
export async function endTask(subject: DetachedSubject): Promise<number> {
  await subject.end();
  const { state } = subject;
  if (state.kind === 'ended') return 0;
  if (state.kind === 'lost') note(state.reason);
  if (state.kind === 'running' && state.trouble !== undefined) note(state.trouble);
  const members = await subject.members();
  for (const { pid } of members ?? []) note(`process ${pid} could not be ended`);
  if (state.kind === 'left' && members === undefined) note('what of it is left is not known');
  return NOT_ENDED;
}
