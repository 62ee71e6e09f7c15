import type { ArtifactStore } from '../../artifacts/store.js';
import { ExclusiveQueue } from '../../support/mutex.js';
import { unlessAborted } from '../../support/timing.js';
import { listenTo } from '../call-listeners.js';
import { type BashTool, SHELL_HINTS, type ToolCall, type ToolResult } from '../contract.js';
import { ToolAbortError } from '../errors.js';
import { Lifetime } from '../lifetime.js';
import type { PendingEntry } from '../log-entry.js';
import { CANCELLED } from '../notices.js';
import { momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { completeTool } from '../ways/complete.js';
import { createJobTool, type JobDetails, type JobInput } from './background/job-tool.js';
import { type Run, runAsTask, runUntilBackground } from './background/task-candidate.js';
import { type PreparedCommand, prepare } from './input/prepare.js';
import { type WorkspaceInput, workspaceDescription, workspaceSchema } from './input/schema.js';
import {
  resolveWorkspaceOptions,
  type WorkspaceOptions,
  type WorkspaceSettings,
} from './options.js';
import type { WorkspaceDetails } from './output/result.js';
import { runPrepared } from './run.js';
import { runInClientTerminal } from './terminal/client.js';

/** Either keeps all commands on pipes when it is `1`. */
const SWITCHES = ['FORKLINE_NO_PTY', 'PI_NO_PTY'] as const;

/** The switch that is on now. Looking takes its time, and only a terminal asks. */
function switchOfNow(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('pty' in input)) return undefined;
  return SWITCHES.find((name) => process.env[name] === '1');
}

/** A tool of the `workspace` contract. */
export interface WorkspaceTool extends BashTool<WorkspaceDetails, WorkspaceInput>, AsyncDisposable {
  /** Where it keeps long outputs; undefined: nowhere. */
  readonly artifacts: ArtifactStore | undefined;
  /**
   * The tool with which the model follows commands in the background; undefined: none can be there.
   */
  readonly job: BashTool<JobDetails, JobInput> | undefined;
}

type Answer = ToolResult<WorkspaceDetails>;

/**
 * The `workspace` contract: one merged output with its tail kept, the directory and the timeout
 * given with each call, one command at a time.
 *
 * @throws {InputError} An option is not valid.
 */
export function createWorkspaceTool(options: WorkspaceOptions): WorkspaceTool {
  const settings = resolveWorkspaceOptions(options);
  const inputSchema = workspaceSchema(settings);
  const validate = createValidator<WorkspaceInput>(inputSchema);
  const life = new Lifetime();
  const queue = new ExclusiveQueue();
  const context = { owner: life.owner, settings, disposal: life.disposal };

  async function answer(input: unknown, call: ToolCall<WorkspaceDetails>): Promise<Answer> {
    // First of all, since waiting is what comes next.
    const { inherited, home } = momentOf(settings);
    const moment = { inherited, home, terminalsOff: switchOfNow(input) };
    const [offered, asked] = splitAsync(input, settings);
    const valid = await validate(offered);
    const fields = asked === undefined ? valid : { ...valid, async: asked };
    const entry = settings.log?.begin(fields.command, call.signal);
    // Everything else waits for its turn: the command before may make the directory of this one.
    const running = queue.run(async () => {
      // What the runtime gives for it, such as resolvers, may take its time.
      const preparing = prepare(fields, settings, moment);
      const command = await unlessAborted(preparing, call.signal, life.disposal);
      life.checkStart(call.signal);
      return start(command, fields.async ?? false, call, entry);
    }, call.signal);
    return entry?.ofCall(running) ?? running;
  }

  function start(
    command: PreparedCommand,
    async: boolean,
    call: ToolCall<WorkspaceDetails>,
    entry: PendingEntry | undefined,
  ): Answer | Promise<Answer> {
    // Also of a job, whose end comes after that of the call.
    const noted = (running: Promise<Answer>) => life.add(entry?.ofRun(running) ?? running);
    const run: Run = (signal, onOutput, follower) =>
      noted(runPrepared(command, { ...context, signal, onOutput, follower }));
    const { tasks, autoBackgroundMs, clientTerminals } = settings;
    if (async && tasks) return runAsTask(tasks, command, call, settings, run);
    // What a person looks at is shown here, and stays where it is.
    if (command.terminal !== undefined) return runUpdating(command, call, noted);
    if (clientTerminals) {
      return noted(runInClientTerminal(clientTerminals, command, settings, call));
    }
    if (autoBackgroundMs !== undefined && tasks) {
      return runUntilBackground(tasks, autoBackgroundMs, command, call, settings, run);
    }
    return runUpdating(command, call, noted);
  }

  async function runUpdating(
    command: PreparedCommand,
    call: ToolCall<WorkspaceDetails>,
    noted: (running: Promise<Answer>) => Promise<Answer>,
  ): Promise<Answer> {
    const { signal } = call;
    const listeners = listenTo(call, settings.updates);
    // On a terminal, the screen is what there is to see, and not what was sent to draw it.
    const onTerminal = listeners && { onOutput: listeners.pass, onScreen: listeners.show };
    const { owner, disposal } = context;
    const onOutput = listeners?.tell;
    const told = { owner, settings, disposal, signal, onOutput, onTerminal };
    try {
      return await noted(runPrepared(command, told));
    } finally {
      listeners?.stop();
    }
  }

  const job = settings.tasks && createJobTool(settings.tasks);
  return completeTool<WorkspaceTool>({
    name: 'bash',
    // Schemes may be registered at any time.
    get description() {
      return workspaceDescription(settings);
    },
    inputSchema,
    strict: true,
    concurrency: 'exclusive',
    artifacts: settings.artifacts,
    hints: SHELL_HINTS,
    job,
    tasks: settings.tasks,
    companions: job === undefined ? [] : [job],
    execute: (input, given) => life.call(input, given, answer),
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
    async dispose() {
      const ended = life.end(settings.graceMs);
      queue.clear(new ToolAbortError(CANCELLED));
      await Promise.all([ended, settings.clientTerminals?.dispose()]);
      if (settings.ownsTasks) settings.tasks?.dispose();
      await settings.snapshot?.dispose();
      if (settings.ownsArtifacts) await settings.artifacts?.dispose();
      await settings.log?.flush();
    },
  });
}

/** `async` is no field of a tool that does not offer it, but asking for it has its own answer. */
function splitAsync(input: unknown, { async }: WorkspaceSettings): [unknown, boolean | undefined] {
  if (async || typeof input !== 'object' || input === null || !('async' in input)) {
    return [input, undefined];
  }
  const { async: asked, ...fields } = input;
  return typeof asked === 'boolean' ? [fields, asked] : [input, undefined];
}
