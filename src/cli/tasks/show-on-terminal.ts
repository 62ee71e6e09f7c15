import type { DetachedTask } from '../../index.js';
import { signalExitCode } from '../../support/signals.js';
import { writeOrTell } from '../standard-output.js';
import { AttachSignals } from './attach-signals.js';
import { conclude, leave } from './show-task.js';

/** Shows a task's terminal on the user's, until its command has ended or the user leaves. Returns the exit code. */
export async function showOnTerminal(
  task: DetachedTask,
  detachKeys: string | undefined,
): Promise<number> {
  const { subject } = task;
  const { stdin: input, stdout: output } = process;
  if (subject.state.kind !== 'running') {
    await writeOrTell(await task.screen());
    return conclude(subject, subject.state);
  }
  const signals = new AttachSignals(subject);
  const leaving = new AbortController();
  void signals.left.then(() => leaving.abort());
  try {
    const { signal } = leaving;
    const end = await task.showOn({ input, output, detachKeys, signal });
    if (end === 'ended') return await conclude(subject, subject.state);
    if (end === 'gone') return signalExitCode('SIGHUP');
    return leave(subject, end === 'detached' ? 'SIGQUIT' : signals.leftBy);
  } finally {
    signals.release();
  }
}
