import type { Outcome } from '../engine/outcome.js';

/**
 * The state of a task: its command runs · the command has ended, but processes of it still run · no
 * process of it is left · the state is not known.
 */
export type TaskState = 'running' | 'left' | 'ended' | 'lost';

/** How a task's command ended. */
export type TaskResult = 'completed' | 'failed' | 'cancelled';

/** Summarizes an outcome in one word. */
export function taskResult(outcome: Outcome): TaskResult {
  if (outcome.kind === 'exited' && outcome.exitCode === 0) return 'completed';
  return outcome.kind === 'cancelled' ? 'cancelled' : 'failed';
}

/**
 * How long a task may run at most: until the tool that started it is disposed of, until the host ends, or
 * without limit.
 */
export type TaskLifetime = 'tool' | 'host' | 'detached';

/** The status of a task, for a runtime. */
export interface TaskStatus {
  /** The task's id in its manager. */
  readonly id: string;
  readonly type: 'bash';
  /** The task's current state. */
  readonly state: TaskState;
  /** How its command ended; absent while it runs. */
  readonly result?: TaskResult;
  /** A short description, on one line. */
  readonly label: string;
  /** How long it may run. */
  readonly lifetime: TaskLifetime;
  /** Time from its start until now or the end of its command, in milliseconds. */
  readonly durationMs: number;
}

/** The end of a task's command. */
export interface TaskEnd {
  /** How it ended, in one word. */
  readonly result: TaskResult;
  /** The answer to the model: output and notices, bounded as the tool's. */
  readonly text: string;
  /** Where the text, or all of the output, can be read again: `artifact://3`. */
  readonly kept?: string | undefined;
}
