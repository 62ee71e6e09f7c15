import { checkCommand } from '../../command/command-line.js';
import { InputError } from '../../support/errors.js';
import type { Task } from '../../tasks/task.js';
import { createContractTool, Lifetime, noted } from '../call.js';
import type { BashTool } from '../contract.js';
import { type CallMoment, momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { resolveSessionOptions, type SessionOptions, type SessionSettings } from './options.js';
import { SharedShell } from './persistent/shared-shell.js';
import type { SessionDetails } from './result.js';
import { runInSession } from './run.js';
import {
  SESSION_OUTPUT_SCHEMA,
  type SessionInput,
  sessionDescription,
  sessionSchema,
} from './schema.js';
import { type Session, SessionDirectory, showingOutputs } from './session.js';
import type { TaskDetails, TaskListDetails } from './tasks/result.js';
import type { ListTasksInput, TaskInput, TaskOutputInput, WriteTaskInput } from './tasks/schema.js';
import { SessionTasks } from './tasks/session-tasks.js';
import { startTask } from './tasks/start-task.js';
import { createTaskTools } from './tasks/tools.js';

/** A tool of the `session` contract. */
export interface SessionTool extends BashTool<SessionDetails, SessionInput>, AsyncDisposable {
  /** Where the next command will start. */
  readonly cwd: string;
  /** The tool by which the model reads the output of commands in the background. */
  readonly taskOutput: BashTool<TaskDetails, TaskOutputInput>;
  /** The tool by which the model writes to their stdin. */
  readonly writeTask: BashTool<TaskDetails, WriteTaskInput>;
  /** The tool by which the model ends them. */
  readonly killTask: BashTool<TaskDetails, TaskInput>;
  /** The tool that lists them. */
  readonly listTasks: BashTool<TaskListDetails, ListTasksInput>;
}

/**
 * Makes a tool of the `session` contract: the beginnings of stdout and stderr, exit codes as data, a working
 * directory that lasts, commands side by side and in the background; or with `persistent`, commands one after
 * another in one bash.
 *
 * @throws {InputError} An option is not valid.
 */
export function createSessionTool(options: SessionOptions): SessionTool {
  const settings = resolveSessionOptions(options);
  const inputSchema = sessionSchema(settings);
  const life = new Lifetime();
  const session: Session = {
    settings,
    owner: life.owner,
    directory: new SessionDirectory(settings.cwd),
    tasks: new SessionTasks(settings.tasks),
  };
  const shared = settings.persistent ? new SharedShell(session) : undefined;
  const taskTools = createTaskTools(session.tasks, life);

  return createContractTool<SessionTool, SessionInput, SessionDetails, CallMoment>(
    {
      settings,
      life,
      // Only the directory is looked up later, when the command starts.
      momentOf: () => momentOf(settings),
      validate: createValidator<SessionInput>(inputSchema),
      check: checkFields,
      async run(fields, { call, moment, entry }) {
        const isSandboxed = settings.sandbox !== undefined && shared === undefined;
        const own = isSandboxed ? await showingOutputs(session) : session;
        life.checkStart(call.signal);
        if (fields.run_in_background) {
          return startTask((await shared?.beside()) ?? own, fields, moment, entry);
        }
        const running =
          shared?.run(fields, call, moment, () => life.checkStart(call.signal)) ??
          runInSession(own, fields, call, moment);
        return noted(entry, running);
      },
      async release() {
        const tasks = session.tasks.list();
        await Promise.all(
          tasks.filter((task) => task.lifetime === 'tool').map(({ ended }) => ended),
        );
        if (settings.ownsTasks) settings.tasks.dispose();
        await disposeOutputs(settings, tasks);
        await shared?.settled();
      },
    },
    {
      description: sessionDescription(settings),
      inputSchema,
      outputSchema: SESSION_OUTPUT_SCHEMA,
      concurrency: settings.persistent ? 'exclusive' : 'shared',
      ...taskTools,
      tasks: settings.tasks,
      companions: Object.values(taskTools),
      get cwd() {
        return session.directory.path;
      },
    },
  );
}

/** Disposes of the outputs, once the tasks that outlive the tool have ended. */
async function disposeOutputs({ outputs }: SessionSettings, tasks: readonly Task[]): Promise<void> {
  const running = tasks.filter(({ lifetime, end }) => lifetime === 'host' && end === undefined);
  if (running.length === 0) await outputs.dispose();
  else void Promise.all(running.map(({ ended }) => ended)).then(() => outputs.dispose());
}

/** @throws {InputError} The command is missing, or cannot be run. */
function checkFields(input: SessionInput): void {
  const { command, restart, run_in_background: background, pty, notify } = input;
  if (command === undefined && !restart) {
    const message = 'command: expected a string, or nothing beside `restart: true`, got nothing';
    throw new InputError(message);
  }
  if (command !== undefined) checkCommand(command);
  if (pty && !background) {
    throw new InputError('pty: expected to come with `run_in_background: true`');
  }
  if (notify !== undefined && !background) {
    throw new InputError('notify: expected to come with `run_in_background: true`');
  }
  if (restart && background) {
    throw new InputError('restart: expected to come without `run_in_background: true`');
  }
}
