import { type FSWatcher, watch } from 'node:fs';
import { onBehalfOfNobody } from '../../engine/caller.js';
import { startTimer } from '../../support/timing.js';

/** From one look to the next where the system tells of no changes. */
const LOOK_MS = 500;

/** From one change that is told to the next: a command that prints all the time is no reason for more. */
const PAUSE_MS = 50;

/**
 * Tells of changes in a directory, at once and then at most every 50 ms; where the system can't tell of
 * any (no more watches, no inotify), every half second. It does not keep the host alive.
 *
 * @param changed Is given the names of the files that have changed; none: any may have.
 * @returns How to stop.
 */
export function watchChanges(
  directory: string,
  changed: (names: ReadonlySet<string>) => void,
): () => void {
  let names = new Set<string>();
  let stopTimer: (() => void) | undefined;
  const tell = (): void => {
    stopTimer = undefined;
    if (names.size === 0) return;
    const told = names;
    names = new Set();
    stopTimer = onBehalfOfNobody(() => startTimer(PAUSE_MS, tell));
    changed(told);
  };
  const note = (_: string, name: string | null): void => {
    names.add(name ?? '');
    if (stopTimer === undefined) tell();
  };
  const look = (): void => {
    stopTimer = onBehalfOfNobody(() => startTimer(LOOK_MS, look));
    changed(new Set());
  };
  const watcher = openWatcher(directory, note);
  watcher?.on('error', () => {
    watcher.close();
    stopTimer?.();
    look();
  });
  if (watcher === undefined) look();
  return () => {
    watcher?.close();
    stopTimer?.();
  };
}

function openWatcher(
  directory: string,
  note: (event: string, name: string | null) => void,
): FSWatcher | undefined {
  try {
    return onBehalfOfNobody(() => watch(directory, { persistent: false }, note));
  } catch {
    return undefined;
  }
}
