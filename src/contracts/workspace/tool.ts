import type { ArtifactStore } from '../../artifacts/store.js';
import { ExclusiveQueue } from '../../support/mutex.js';
import { unlessAborted } from '../../support/timing.js';
import { type ContractCall, createContractTool, Lifetime, noted } from '../call.js';
import { CallListeners } from '../call-listeners.js';
import type { BashTool, ToolCall, ToolResult } from '../contract.js';
import { CANCELLED, ToolAbortError } from '../errors.js';
import { momentOf } from '../options.js';
import { createValidator } from '../validate.js';
import { createJobTool, type JobDetails, type JobInput } from './background/job-tool.js';
import { type CandidateRun, runAsTask, runUntilBackground } from './background/task-candidate.js';
import { type PreparedCommand, prepare, type WorkspaceMoment } from './input/prepare.js';
import { type WorkspaceInput, workspaceDescription, workspaceSchema } from './input/schema.js';
import {
  resolveWorkspaceOptions,
  type WorkspaceOptions,
  type WorkspaceSettings,
} from './options.js';
import type { WorkspaceDetails } from './output/result.js';
import { runPrepared } from './run.js';
import { runInClientTerminal } from './terminal/client.js';

/** Environment variables that keep all commands on pipes; either suffices when it is `1`. */
const SWITCHES = ['FORKLINE_NO_PTY', 'PI_NO_PTY'] as const;

/** Returns the variable that is set. Reading is slow, so only calls that ask for a terminal do it. */
function switchOfNow(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('pty' in input)) return undefined;
  return SWITCHES.find((name) => process.env[name] === '1');
}

/** A tool of the `workspace` contract. */
export interface WorkspaceTool extends BashTool<WorkspaceDetails, WorkspaceInput>, AsyncDisposable {
  /** The store for long outputs; undefined: they are not kept. */
  readonly artifacts: ArtifactStore | undefined;
  /** The tool by which the model follows commands in the background; undefined: there are none. */
  readonly job: BashTool<JobDetails, JobInput> | undefined;
}

type Answer = ToolResult<WorkspaceDetails>;

/**
 * Makes a tool of the `workspace` contract: the end of one merged output, a directory and a timeout with each
 * call, one command at a time.
 *
 * @throws {InputError} An option is not valid.
 */
export function createWorkspaceTool(options: WorkspaceOptions): WorkspaceTool {
  const settings = resolveWorkspaceOptions(options);
  const inputSchema = workspaceSchema(settings);
  const validateFields = createValidator<WorkspaceInput>(inputSchema);
  const life = new Lifetime();
  const queue = new ExclusiveQueue();
  const context = { owner: life.owner, settings, disposal: life.disposal };

  function start(
    command: PreparedCommand,
    async: boolean,
    { call, entry }: ContractCall<WorkspaceDetails, WorkspaceMoment>,
  ): Promise<Answer> | Answer {
    // A job ends after its call.
    const run: CandidateRun = (own) =>
      life.add(noted(entry, runPrepared(command, { ...context, ...own })));
    const { tasks, autoBackgroundMs, clientTerminals } = settings;
    if (async && tasks) return runAsTask(tasks, command, call, settings, run);
    // A command on a terminal stays there, and is not put into the background.
    if (command.terminal !== undefined) return noted(entry, runUpdating(command, call));
    if (clientTerminals) {
      return noted(entry, runInClientTerminal(clientTerminals, command, settings, call));
    }
    if (autoBackgroundMs !== undefined && tasks) {
      return runUntilBackground(tasks, autoBackgroundMs, command, call, settings, run);
    }
    return noted(entry, runUpdating(command, call));
  }

  function runUpdating(
    command: PreparedCommand,
    call: ToolCall<WorkspaceDetails>,
  ): Promise<Answer> {
    const { signal } = call;
    if (call.onUpdate !== undefined || call.onOutput !== undefined) return runHeard(command, call);
    const { owner, disposal } = context;
    return runPrepared(command, { owner, settings, disposal, signal });
  }

  async function runHeard(
    command: PreparedCommand,
    call: ToolCall<WorkspaceDetails>,
  ): Promise<Answer> {
    const { signal } = call;
    const listeners = new CallListeners(call, settings.updates);
    // On a terminal, updates show the screen, not the escape sequences that draw it.
    const onTerminal = { onOutput: listeners.pass, onScreen: listeners.show };
    try {
      const heard = { onOutput: listeners.tell, onTerminal };
      return await runPrepared(command, { ...context, signal, ...heard });
    } finally {
      listeners.stop();
    }
  }

  const job = settings.tasks && createJobTool(settings.tasks, settings.async ? 'pty' : 'none');
  return createContractTool<WorkspaceTool, WorkspaceInput, WorkspaceDetails, WorkspaceMoment>(
    {
      settings,
      life,
      momentOf(input) {
        // A literal, on every call's way: a spread takes several times as long.
        const { inherited, home } = momentOf(settings);
        return { inherited, home, terminalsOff: switchOfNow(input) };
      },
      validate(input) {
        const [offered, async] = splitAsync(input, settings);
        const validating = validateFields(offered);
        return async === undefined ? validating : validating.then((valid) => ({ ...valid, async }));
      },
      // The call waits for its turn before it is prepared: the command before may make its directory.
      run: (fields, under) =>
        queue.run(async () => {
          const { signal } = under.call;
          // Functions of the runtime, such as resolvers, may take long.
          const preparing = prepare(fields, settings, under.moment);
          const command = await unlessAborted(preparing, signal, life.disposal);
          life.checkStart(signal);
          return start(command, fields.async ?? false, under);
        }, under.call.signal),
      interrupt() {
        queue.clear(new ToolAbortError(CANCELLED));
        return settings.clientTerminals?.dispose();
      },
      async release() {
        if (settings.ownsTasks) settings.tasks?.dispose();
        await settings.snapshot?.dispose();
        if (settings.ownsArtifacts) await settings.artifacts?.dispose();
      },
    },
    {
      // The description lists URL schemes, which may be registered at any time.
      get description() {
        return workspaceDescription(settings);
      },
      inputSchema,
      concurrency: 'exclusive',
      artifacts: settings.artifacts,
      job,
      tasks: settings.tasks,
      companions: job === undefined ? [] : [job],
    },
  );
}

/** Takes `async` out of the input of a tool that does not offer it, since it has an error of its own. */
function splitAsync(input: unknown, { async }: WorkspaceSettings): [unknown, boolean | undefined] {
  if (async || typeof input !== 'object' || input === null || !('async' in input)) {
    return [input, undefined];
  }
  const { async: asked, ...fields } = input;
  return typeof asked === 'boolean' ? [fields, asked] : [input, undefined];
}
