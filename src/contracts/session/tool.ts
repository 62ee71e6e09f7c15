import { createOwner } from '../../engine/owner.js';
import { CANCELLED } from '../../pipeline/notices.js';
import { UnderWay } from '../../pipeline/under-way.js';
import { checkCommand, createValidator } from '../../pipeline/validate.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../contract.js';
import { ToolAbortError, ToolError, toToolError } from '../errors.js';
import { SessionDirectory } from './directory.js';
import { resolveSessionOptions, type SessionOptions } from './options.js';
import type { SessionDetails, TaskDetails } from './result.js';
import { runCommand, type Session, startTask } from './run.js';
import {
  SESSION_OUTPUT_SCHEMA,
  type SessionInput,
  sessionDescription,
  sessionSchema,
} from './schema.js';
import { createTaskOutputTool } from './task-output.js';
import { Tasks } from './tasks.js';

/** A tool of the `session` contract. */
export interface SessionTool extends BashTool<SessionDetails> {
  /** Where the next command will start. */
  readonly cwd: string;
  /** With which the model reads what commands in the background have printed. */
  readonly taskOutput: BashTool<TaskDetails>;
}

/**
 * The `session` contract: stdout and stderr apart with their beginnings kept, exit codes as data,
 * a working directory that lasts, commands side by side and in the background.
 *
 * @throws {InputError} An option is not valid.
 */
export function createSessionTool(options: SessionOptions): SessionTool {
  const settings = resolveSessionOptions(options);
  const inputSchema = sessionSchema(settings);
  const validate = createValidator<SessionInput>(inputSchema);
  const session: Session = {
    settings,
    owner: createOwner(),
    directory: new SessionDirectory(settings.cwd),
    tasks: new Tasks(settings),
  };
  const running = new UnderWay();
  let disposed = false;
  const taskOutput = createTaskOutputTool(session.tasks, settings.maxCharacters, () => disposed);

  async function answer(
    input: unknown,
    call: ToolCall<SessionDetails>,
  ): Promise<ToolResult<SessionDetails>> {
    const fields = await validate(input);
    checkCommand(fields.command);
    call.signal?.throwIfAborted();
    if (disposed) throw new ToolAbortError(CANCELLED);
    return running.add(
      fields.run_in_background ? startTask(session, fields) : runCommand(session, fields, call),
    );
  }

  return {
    name: 'bash',
    description: sessionDescription(settings),
    inputSchema,
    outputSchema: SESSION_OUTPUT_SCHEMA,
    strict: true,
    concurrency: 'shared',
    hints: SHELL_HINTS,
    taskOutput,
    companions: [taskOutput],
    get cwd() {
      return session.directory.path;
    },
    async execute(input, call = {}) {
      if (disposed) throw new ToolError('disposed', 'The bash tool was disposed.');
      try {
        return await answer(input, call);
      } catch (error) {
        throw toToolError(error, call.signal);
      }
    },
    async dispose() {
      disposed = true;
      await session.owner.dispose(settings.graceMs);
      await running.settled();
      await session.tasks.settled();
    },
  };
}
