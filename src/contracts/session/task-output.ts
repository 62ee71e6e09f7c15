import type { RunResult } from '../../engine/outcome.js';
import type { BashTool, ToolResult } from '../contract.js';
import type { Lifetime } from '../lifetime.js';
import { createValidator } from '../validate.js';
import { showStream } from './output.js';
import {
  completedTaskResult,
  runningTaskResult,
  sessionReceipt,
  shownStreams,
  type TaskDetails,
  unknownTaskResult,
} from './result.js';
import {
  TASK_OUTPUT_DESCRIPTION,
  TASK_OUTPUT_OUTPUT_SCHEMA,
  TASK_OUTPUT_SCHEMA,
  type TaskOutputInput,
} from './schema.js';
import type { Task, Tasks } from './tasks.js';

/**
 * The tool with which a model reads what its commands in the background have printed.
 *
 * @param life That of the session.
 */
export function createTaskOutputTool(
  tasks: Tasks,
  maxCharacters: number,
  life: Lifetime,
): BashTool<TaskDetails> {
  const validate = createValidator<TaskOutputInput>(TASK_OUTPUT_SCHEMA);

  async function answer(input: unknown): Promise<ToolResult<TaskDetails>> {
    const { task_id: taskId } = await validate(input);
    const task = tasks.find(taskId);
    if (task === undefined) return unknownTaskResult(taskId, tasks.ids);
    if (task.end !== undefined) return completed(task, task.end);
    const [stdout, stderr] = (await task.command.handle.snapshot()) ?? [];
    // It has ended meanwhile.
    if (stdout === undefined || stderr === undefined) {
      return completed(task, await task.command.result);
    }
    return runningTaskResult(taskId, {
      stdout: showStream('stdout', stdout, maxCharacters),
      stderr: showStream('stderr', stderr, maxCharacters),
    });
  }

  async function completed(
    { id, environment }: Task,
    end: RunResult,
  ): Promise<ToolResult<TaskDetails>> {
    // Of two who ask at once, one gets it.
    if (!tasks.forget(id)) return unknownTaskResult(id, tasks.ids);
    const streams = shownStreams(end, maxCharacters);
    return completedTaskResult(id, end, streams, await sessionReceipt(end, streams, environment));
  }

  return {
    name: 'task_output',
    description: TASK_OUTPUT_DESCRIPTION,
    inputSchema: TASK_OUTPUT_SCHEMA,
    outputSchema: TASK_OUTPUT_OUTPUT_SCHEMA,
    strict: true,
    concurrency: 'shared',
    // It forgets what it has told.
    hints: { readOnly: true, destructive: false, idempotent: false, openWorld: false },
    companions: [],
    execute: (input, given) => life.call(input, given, answer),
    async dispose() {},
  };
}
