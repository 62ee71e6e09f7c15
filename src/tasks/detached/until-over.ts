import type { TaskSubject } from '../subject.js';

/** Settles when its command has ended, or nobody can tell. It does not keep the host alive. */
export function untilOver(subject: TaskSubject): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (subject.state.kind === 'running') return;
      stop();
      resolve();
    };
    const stop = subject.watch(look);
    look();
  });
}
