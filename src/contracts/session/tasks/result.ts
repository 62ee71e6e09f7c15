import type { BackgroundProcess, Outcome } from '../../../engine/outcome.js';
import type { Receipt } from '../../../receipt/receipt.js';
import { showValue } from '../../../support/errors.js';
import { newestOf } from '../../../support/text.js';
import type { TaskStatus } from '../../../tasks/status.js';
import type { ToolResult } from '../../contract.js';
import { afterWarning, noticesOf, outputText, warningOf } from '../../notices.js';
import type { NewOutput } from '../../tasks/task-text.js';
import {
  limitNotices,
  lossyNotices,
  reportText,
  sections,
  streamsText,
  structuredEnd,
  structuredNotices,
  structuredStreams,
} from '../result.js';
import type { EndedTask, ShownTaskOutput } from './session-tasks.js';

/**
 * The state of a task for a model. `left`: the command has ended, and processes of it still run. `killed`: it
 * was ended, by `kill_task` or with what started it.
 */
export type TaskPhase = 'running' | 'completed' | 'killed' | 'left';

/** Details of an answer about a task. */
export interface TaskDetails {
  /** The id of the task, as `bash` returned it. */
  taskId: string;
  /** The state of the task; undefined: there is no such task. */
  status: TaskPhase | undefined;
  /** How the command ended; absent while it runs. */
  outcome?: Outcome;
  /** How long the command took, in milliseconds; absent while it runs. */
  durationMs?: number;
  /** Processes of the command that still run although it has ended; present when there are any. */
  background?: readonly BackgroundProcess[];
  /** The receipt of the command; absent while it runs. */
  receipt?: Receipt;
}

/** Details of an answer of `list_tasks`. */
export interface TaskListDetails {
  /** The status of each task, in the order in which they began. */
  readonly tasks: readonly TaskStatus[];
}

/** Makes the answer about a task that runs, with its output from the beginning. */
export function runningTaskResult(taskId: string, shown: ShownTaskOutput): ToolResult<TaskDetails> {
  const notices = lossyOf(shown);
  const text = sections([
    taskLines(taskId, 'running'),
    shownText(shown, 'running'),
    notices.join('\n'),
  ]);
  return running(taskId, text, { ...structuredOutput(shown), ...structuredNotices(notices) });
}

function shownText(shown: ShownTaskOutput, state?: 'running'): string {
  return shown.kind === 'merged'
    ? outputText(shown.text, state)
    : streamsText(shown.streams, state);
}

function structuredOutput(shown: ShownTaskOutput) {
  return shown.kind === 'merged' ? { output: shown.text } : structuredStreams(shown.streams);
}

function lossyOf(shown: ShownTaskOutput): readonly string[] {
  return shown.kind === 'merged' ? [] : lossyNotices(shown.streams);
}

/** Returns whether a part of the output is not shown. */
export function isCut(shown: ShownTaskOutput): boolean {
  if (shown.kind === 'merged') return shown.isCut;
  return shown.streams.stdout.isCut || shown.streams.stderr.isCut;
}

/**
 * Makes the answer about a task that runs, with its new output.
 *
 * @param event One line about what has happened.
 */
export function newOutputResult(
  taskId: string,
  output: NewOutput,
  event: string | undefined,
): ToolResult<TaskDetails> {
  const text = sections([taskLines(taskId, 'running'), output.shown, event ?? '']);
  return running(taskId, text, {
    output: output.text,
    ...structuredNotices([output.stopped, event].filter((one) => one !== undefined)),
  });
}

function running(taskId: string, text: string, told: object): ToolResult<TaskDetails> {
  return {
    content: [{ type: 'text', text }],
    details: { taskId, status: 'running' },
    structured: { task_id: taskId, status: 'running', ...told, exit_code: null, timed_out: false },
  };
}

/**
 * Makes the answer about a task whose command has ended.
 *
 * @param phase Whether processes of the command still run.
 * @param output The new output; undefined: all output is shown.
 * @param event One line about what a wait has found besides.
 */
export function completedTaskResult(
  taskId: string,
  { outcome, durationMs, shown, receipt, notice, file }: EndedTask,
  phase: Exclude<TaskPhase, 'running'>,
  output?: NewOutput,
  event?: string,
): ToolResult<TaskDetails> {
  const isAll = output === undefined && !isCut(shown);
  const whole = isAll || file === undefined ? undefined : `All of its output: ${file}`;
  const notices = noticesOf([...lossyOf(shown), whole], [notice, event], receipt);
  const report = reportText(
    output === undefined ? shownText(shown) : output.shown,
    outcome,
    notices,
  );
  const text = afterWarning(receipt, sections([taskLines(taskId, phase), report]));
  const background = receipt?.background ?? [];
  return {
    content: [{ type: 'text', text }],
    details: {
      taskId,
      status: phase,
      outcome,
      ...(durationMs !== undefined && { durationMs }),
      ...(background.length > 0 && { background }),
      ...(receipt && { receipt }),
    },
    structured: {
      task_id: taskId,
      status: phase,
      ...(output === undefined ? structuredOutput(shown) : { output: output.text }),
      ...structuredEnd(outcome),
      ...structuredNotices([...warningOf(receipt), ...notices, ...limitNotices(outcome)]),
    },
  };
}

/**
 * Makes the answer about a task whose end was returned before, or is returned to another call.
 *
 * @param event One line about what a wait has found.
 */
export function readTaskResult(
  taskId: string,
  phase: Exclude<TaskPhase, 'running'>,
  { outcome, file }: Pick<EndedTask, 'outcome' | 'file'>,
  event?: string,
): ToolResult<TaskDetails> {
  const where = file === undefined ? '' : ` All of its output: ${file}`;
  const rest = phase === 'left' ? '' : ' None of its processes runs any more.';
  const told = `Its end has been returned before.${rest}${where}`;
  const events = event === undefined ? [] : [event];
  const text = sections([taskLines(taskId, phase), reportText(told, outcome, events)]);
  const structured = { task_id: taskId, status: phase, ...structuredEnd(outcome) };
  return {
    content: [{ type: 'text', text }],
    details: { taskId, status: phase, outcome },
    structured: { ...structured, ...structuredNotices(events) },
  };
}

/**
 * Makes the answer about an unknown task.
 *
 * @param file The file with the output, if the task was known before.
 */
export function unknownTaskResult(
  taskId: string,
  known: readonly string[],
  file?: string,
): ToolResult<TaskDetails> {
  const which = known.length === 0 ? 'There are no tasks.' : `Known tasks: ${newestOf(known)}.`;
  const forgotten =
    file === undefined
      ? 'A task that has been returned as completed is forgotten.'
      : `It has been returned as completed. All of its output: ${file}`;
  const text = `Task not found: ${shownId(taskId)}. ${which} ${forgotten}`;
  const details = { taskId, status: undefined };
  return { content: [{ type: 'text', text }], details, isError: true };
}

/** Shows an id that a model has sent, on one line whatever it is. */
function shownId(taskId: string): string {
  return /^\w{1,80}$/.test(taskId) ? taskId : showValue(taskId);
}

const WHAT_IS_LEFT = 'left: its command has ended, processes of it still run; kill_task ends them';

function taskLines(taskId: string, phase: TaskPhase): string {
  return `task_id: ${taskId}\nstatus: ${phase === 'left' ? WHAT_IS_LEFT : phase}`;
}
