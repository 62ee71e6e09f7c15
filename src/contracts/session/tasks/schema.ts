import { UNTIL_PROPERTIES, type UntilInput } from '../../tasks/until.js';
import { type TaskWriting, WRITING_PROPERTIES } from '../../tasks/write-and-wait.js';
import type { ObjectSchema } from '../../validate.js';
import { END_PROPERTIES } from '../schema.js';

/** Input of `kill_task`, once it is valid, and a part of the other tools' input. */
export interface TaskInput {
  /** The id of the task, as `bash` returned it. */
  readonly task_id: string;
}

/** Input of `task_output`, once it is valid. */
export interface TaskOutputInput extends TaskInput, UntilInput {
  /** Return only the output since the model has looked. Absent: all of it. */
  readonly new?: boolean;
}

/** Input of `list_tasks`, once it is valid: nothing. */
export type ListTasksInput = Readonly<Record<never, never>>;

/** Input of `write_task`, once it is valid. */
export interface WriteTaskInput extends TaskInput, TaskWriting, UntilInput {}

const TASK_ID = { task_id: { type: 'string', description: 'Id of the task, as `bash` gave it' } };

function schemaOf(properties: ObjectSchema['properties'], required: string[]): ObjectSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The schema of `task_output`'s input. */
export const TASK_OUTPUT_SCHEMA = schemaOf(
  {
    ...TASK_ID,
    new: { type: 'boolean', description: 'Only what is new since you looked' },
    ...UNTIL_PROPERTIES,
  },
  ['task_id'],
);

/** The schema of `write_task`'s input. */
export const WRITE_TASK_SCHEMA = schemaOf(
  {
    ...TASK_ID,
    ...WRITING_PROPERTIES,
    ...UNTIL_PROPERTIES,
  },
  ['task_id'],
);

/** The schema of `kill_task`'s input. */
export const KILL_TASK_SCHEMA = schemaOf(TASK_ID, ['task_id']);

/** The schema of `list_tasks`' input. */
export const LIST_TASKS_SCHEMA = schemaOf({}, []);

/** The schema of the structured result of the tools for one task. */
export const TASK_RESULT_SCHEMA = schemaOf(
  {
    ...END_PROPERTIES,
    output: { type: 'string', description: 'What is new, stdout and stderr as they came' },
    task_id: { type: 'string' },
    status: { type: 'string', enum: ['running', 'completed', 'killed', 'left'] },
  },
  ['task_id', 'status'],
);

/** The schema of the structured result of `list_tasks`. */
export const TASK_LIST_SCHEMA = schemaOf(
  {
    tasks: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          task_id: { type: 'string' },
          state: { type: 'string', enum: ['running', 'left', 'ended', 'lost'] },
          command: { type: 'string' },
          seconds: { type: 'number' },
        },
        required: ['task_id', 'state', 'command', 'seconds'],
      },
    },
  },
  ['tasks'],
);

/** The description of `task_output` for the model. */
export const TASK_OUTPUT_DESCRIPTION =
  'Returns what a command in the background has printed so far, and whether it is running or ' +
  'completed. It waits only when told to: `line`, `port`, `silent`, `seconds`, for what comes first, ' +
  'or the end; it then returns what is new. Once a completed task has been returned, with its exit ' +
  'code and its output, it is forgotten.';

/** The description of `write_task` for the model. */
export const WRITE_TASK_DESCRIPTION =
  'Writes to a command in the background, waits until it is silent or for what you name, and returns ' +
  'what is new.';

/** The description of `kill_task` for the model. */
export const KILL_TASK_DESCRIPTION =
  'Ends a command in the background, with everything that it has started, and returns its output.';

/** The description of `list_tasks` for the model. */
export const LIST_TASKS_DESCRIPTION = 'Lists the commands in the background.';
