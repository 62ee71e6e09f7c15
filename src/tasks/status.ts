import type { Outcome } from '../engine/outcome.js';

/**
 * How a task stands: its command runs · has ended, but processes of it still run · nobody of it is
 * left · nobody can tell.
 */
export type TaskState = 'running' | 'left' | 'ended' | 'lost';

/** How its command ended. */
export type TaskResult = 'completed' | 'failed' | 'cancelled';

/** The same in one word, for those who want no more. */
export function taskResult(outcome: Outcome): TaskResult {
  if (outcome.kind === 'exited' && outcome.exitCode === 0) return 'completed';
  return outcome.kind === 'cancelled' ? 'cancelled' : 'failed';
}

/**
 * Until when a task may run at the longest: until the tool that started it is disposed of, or the
 * host ends, or as long as it wants.
 */
export type TaskLifetime = 'tool' | 'host' | 'detached';

/** How a task stands, for a runtime. */
export interface TaskStatus {
  /** Its id among its manager's. */
  readonly id: string;
  readonly type: 'bash';
  /** How it stands now. */
  readonly state: TaskState;
  /** How its command ended; absent while it runs. */
  readonly result?: TaskResult;
  /** What it is, on one line. */
  readonly label: string;
  /** Until when it may run. */
  readonly lifetime: TaskLifetime;
  /** Time since it began, until now or the end of its command, in milliseconds. */
  readonly durationMs: number;
}

/** How the command of a task has ended. */
export interface TaskEnd {
  /** How it ended, in one word. */
  readonly result: TaskResult;
  /** The answer that its call would have got: output and notices, bounded as the tool's. */
  readonly text: string;
  /** Where its text, or all of its output, can be read again: `artifact://3`. */
  readonly kept?: string | undefined;
}
