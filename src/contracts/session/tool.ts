import { checkCommand } from '../../command/command-line.js';
import { InputError } from '../../support/errors.js';
import type { Task } from '../../tasks/task.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../contract.js';
import { Lifetime } from '../lifetime.js';
import type { PendingEntry } from '../log-entry.js';
import { type CallMoment, momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { completeTool } from '../ways/complete.js';
import { SessionDirectory } from './directory.js';
import { resolveSessionOptions, type SessionOptions, type SessionSettings } from './options.js';
import { SharedShell } from './persistent/shared-shell.js';
import type { SessionDetails } from './result.js';
import { runInSession, type Session, startTask } from './run.js';
import {
  SESSION_OUTPUT_SCHEMA,
  type SessionInput,
  sessionDescription,
  sessionSchema,
} from './schema.js';
import { createKillTaskTool } from './tasks/kill-task.js';
import { createListTasksTool } from './tasks/list-tasks.js';
import type { TaskDetails, TaskListDetails } from './tasks/result.js';
import type { ListTasksInput, TaskInput, TaskOutputInput, WriteTaskInput } from './tasks/schema.js';
import { SessionTasks } from './tasks/session-tasks.js';
import { createTaskOutputTool } from './tasks/task-output.js';
import { createWriteTaskTool } from './tasks/write-task.js';

/** A tool of the `session` contract. */
export interface SessionTool extends BashTool<SessionDetails, SessionInput>, AsyncDisposable {
  /** Where the next command will start. */
  readonly cwd: string;
  /** The tool with which the model reads what commands in the background have printed. */
  readonly taskOutput: BashTool<TaskDetails, TaskOutputInput>;
  /** The tool with which the model writes to them. */
  readonly writeTask: BashTool<TaskDetails, WriteTaskInput>;
  /** The tool with which the model ends them. */
  readonly killTask: BashTool<TaskDetails, TaskInput>;
  /** The tool with which the model sees which there are. */
  readonly listTasks: BashTool<TaskListDetails, ListTasksInput>;
}

/**
 * The `session` contract: stdout and stderr apart with their beginnings kept, exit codes as data,
 * a working directory that lasts, commands side by side and in the background; or, `persistent`, one
 * after the other in one bash.
 *
 * @throws {InputError} An option is not valid.
 */
export function createSessionTool(options: SessionOptions): SessionTool {
  const settings = resolveSessionOptions(options);
  const inputSchema = sessionSchema(settings);
  const validate = createValidator<SessionInput>(inputSchema);
  const life = new Lifetime();
  const session: Session = {
    settings,
    owner: life.owner,
    directory: new SessionDirectory(settings.cwd),
    tasks: new SessionTasks(settings.tasks),
  };
  const shared = settings.persistent ? new SharedShell(session) : undefined;
  const taskOutput = createTaskOutputTool(session.tasks, life);
  const writeTask = createWriteTaskTool(session.tasks, life);
  const killTask = createKillTaskTool(session.tasks, life);
  const listTasks = createListTasksTool(session.tasks, life);

  async function answer(
    input: unknown,
    call: ToolCall<SessionDetails>,
  ): Promise<ToolResult<SessionDetails>> {
    // First of all, since waiting is what comes next. Only the directory is that of its turn.
    const moment = momentOf(settings);
    const fields = await validate(input);
    const { command } = fields;
    const entry = command === undefined ? undefined : settings.log?.begin(command, call.signal);
    const running = run(fields, call, moment, entry);
    return entry?.ofCall(running) ?? running;
  }

  async function run(
    fields: SessionInput,
    call: ToolCall<SessionDetails>,
    moment: CallMoment,
    entry: PendingEntry | undefined,
  ): Promise<ToolResult<SessionDetails>> {
    checkFields(fields);
    life.checkStart(call.signal);
    if (fields.run_in_background) {
      const starting =
        shared?.beside().then((beside) => startTask(beside, fields, moment, entry)) ??
        startTask(session, fields, moment, entry);
      return life.add(starting);
    }
    const running =
      shared?.run(fields, call, moment, () => life.checkStart(call.signal)) ??
      runInSession(session, fields, call, moment);
    return life.add(entry?.ofRun(running) ?? running);
  }

  return completeTool<SessionTool>({
    name: 'bash',
    description: sessionDescription(settings),
    inputSchema,
    outputSchema: SESSION_OUTPUT_SCHEMA,
    strict: true,
    concurrency: settings.persistent ? 'exclusive' : 'shared',
    hints: SHELL_HINTS,
    taskOutput,
    writeTask,
    killTask,
    listTasks,
    tasks: settings.tasks,
    companions: [taskOutput, writeTask, killTask, listTasks],
    get cwd() {
      return session.directory.path;
    },
    execute: (input, given) => life.call(input, given, answer),
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
    async dispose() {
      await life.end(settings.graceMs);
      const tasks = session.tasks.list();
      await Promise.all(tasks.filter((task) => task.lifetime === 'tool').map(({ ended }) => ended));
      if (settings.ownsTasks) settings.tasks.dispose();
      await disposeOutputs(settings, tasks);
      await shared?.settled();
      await settings.log?.flush();
    },
  });
}

/** What goes on without the tool writes on: then they go when it has ended. */
async function disposeOutputs({ outputs }: SessionSettings, tasks: readonly Task[]): Promise<void> {
  const running = tasks.filter(({ lifetime, end }) => lifetime === 'host' && end === undefined);
  if (running.length === 0) await outputs.dispose();
  else void Promise.all(running.map(({ ended }) => ended)).then(() => outputs.dispose());
}

/** @throws {InputError} There is no command where there must be one, or none that can be run. */
function checkFields({ command, restart, run_in_background: background }: SessionInput): void {
  if (command === undefined && !restart) {
    const message = 'command: expected a string, or nothing beside `restart: true`, got nothing';
    throw new InputError(message);
  }
  if (command !== undefined) checkCommand(command);
  if (restart && background) {
    throw new InputError('restart: expected no `run_in_background: true` beside it, got true');
  }
}
