import { type FSWatcher, watch } from 'node:fs';
import { onBehalfOfNobody } from '../../engine/caller.js';
import { startTimer } from '../../support/timing.js';

/** Time between two looks, in milliseconds, where the system reports no changes. */
const LOOK_MS = 500;

/** Time between two reports, in milliseconds: a command that prints all the time causes no more. */
const PAUSE_MS = 50;

/**
 * Reports changes in a directory, at once and then at most every 50 ms; where the system cannot report
 * any (no more watches, no inotify), every half second. Does not keep the host alive.
 *
 * @param changed Called with the names of the changed files; with none, any file may have changed.
 * @returns A function that stops the reports.
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
