import type { TaskSubject } from '../subject.js';

/** Resolves when the subject's command has ended, or its state is lost. Does not keep the host alive. */
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
