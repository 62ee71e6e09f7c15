import { messageOf } from '../../support/errors.js';
import { readOutput } from '../output.js';
import { type TaskEnd, taskResult } from '../status.js';
import type { DetachedSubject } from './detached-subject.js';

/** Bytes of the end of the output that are told with the end of the command. */
const SHOWN_BYTES = 4096;

/**
 * Resolves when the command has ended, or its end cannot be known; never rejects. Does not keep the host alive.
 * The text is the end of the output.
 */
export async function endOfDetached(subject: DetachedSubject): Promise<TaskEnd> {
  await untilOver(subject);
  const { state, outputFile: kept } = subject;
  const receipt = state.kind === 'left' || state.kind === 'ended' ? state.receipt : undefined;
  const result = receipt === undefined ? 'failed' : taskResult(receipt.outcome);
  const text = await lastOutput(subject).catch(
    (error) => `its output can't be read: ${messageOf(error)}`,
  );
  const reason = state.kind === 'lost' ? `Lost: ${state.reason}` : '';
  return { result, text: [text, reason].filter((part) => part !== '').join('\n'), kept };
}

async function lastOutput(subject: DetachedSubject): Promise<string> {
  const { total } = await subject.read(Number.MAX_SAFE_INTEGER, 0);
  return (await readOutput(subject, Math.max(0, total - SHOWN_BYTES), SHOWN_BYTES)).text;
}

/** Settles when the command has ended, or its end cannot be known. Does not keep the host alive. */
export function untilOver(subject: DetachedSubject): Promise<void> {
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
