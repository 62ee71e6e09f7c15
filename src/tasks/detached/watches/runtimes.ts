import type { DetachedNotify } from '../../notify/notify.js';
import type { DetachedSubject } from '../detached-subject.js';

/** Takes a detached command to watch. */
type Runtime = (subject: DetachedSubject, notify: DetachedNotify) => void;

/** The managers of this process with a name and a listener. */
const runtimes = new Map<string, Set<Runtime>>();

/** @returns A function that takes the runtime away. */
export function addRuntime(name: string, runtime: Runtime): () => void {
  const ofName = runtimes.get(name) ?? new Set();
  runtimes.set(name, ofName);
  ofName.add(runtime);
  return () => {
    ofName.delete(runtime);
    if (ofName.size === 0 && runtimes.get(name) === ofName) runtimes.delete(name);
  };
}

/** Tells the managers of this process of a command that one of them is to watch. */
export function announce(subject: DetachedSubject, notify: DetachedNotify): void {
  for (const runtime of runtimes.get(notify.to) ?? []) runtime(subject, notify);
}
