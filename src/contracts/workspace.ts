import { LaunchError } from '../engine/launch-error.js';
import type { OutputChunk } from '../engine/outcome.js';
import { createOwner, type Owner } from '../engine/owner.js';
import { resolveEnvironment } from '../pipeline/environment.js';
import { execute } from '../pipeline/execute.js';
import { expandUrls } from '../pipeline/expand.js';
import { InputError } from '../pipeline/input-error.js';
import { blockedMessage } from '../pipeline/intercept.js';
import { takeLeadingCd } from '../pipeline/leading-cd.js';
import { CANCELLED } from '../pipeline/notices.js';
import { captureLimits } from '../pipeline/output.js';
import { ExclusiveQueue } from '../pipeline/queue.js';
import { TailUpdates } from '../pipeline/tail-updates.js';
import { clampTimeout, type Timeout } from '../pipeline/timeout.js';
import { checkCommand, createValidator } from '../pipeline/validate.js';
import { resolveWorkingDirectory } from '../pipeline/workdir.js';
import type { BashTool, ToolCall, ToolResult } from './contract.js';
import { ToolAbortError, ToolError } from './errors.js';
import {
  resolveWorkspaceOptions,
  type WorkspaceOptions,
  type WorkspaceSettings,
} from './workspace-options.js';
import { type WorkspaceDetails, workspaceResult } from './workspace-result.js';
import { type WorkspaceInput, workspaceDescription, workspaceSchema } from './workspace-schema.js';

const UPDATE_INTERVAL_MS = 50;

/**
 * The `workspace` contract: one merged output with its tail kept, the directory and the timeout
 * given with each call, one command at a time.
 *
 * @throws {InputError} An option is not valid.
 */
export function createWorkspaceTool(options: WorkspaceOptions): BashTool<WorkspaceDetails> {
  const settings = resolveWorkspaceOptions(options);
  const inputSchema = workspaceSchema(settings);
  const validate = createValidator<WorkspaceInput>(inputSchema);
  const owner = createOwner();
  const queue = new ExclusiveQueue();
  let disposed = false;

  async function answer(
    input: unknown,
    call: ToolCall<WorkspaceDetails>,
  ): Promise<ToolResult<WorkspaceDetails>> {
    const fields = await validate(input);
    // Everything else waits for its turn: the command before may make the directory of this one.
    return queue.run(async () => {
      const command = await prepare(fields, settings);
      call.signal?.throwIfAborted();
      if (disposed) throw new ToolAbortError(CANCELLED);
      return runCommand(command, call, owner, settings);
    }, call.signal);
  }

  return {
    name: 'bash',
    description: workspaceDescription(settings),
    inputSchema,
    strict: true,
    concurrency: 'exclusive',
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
      queue.clear(new ToolAbortError(CANCELLED));
      await owner.dispose(settings.graceMs);
    },
  };
}

/** A call with everything decided: what runs, where, for how long and with what around it. */
interface PreparedCommand {
  readonly command: string;
  readonly cwd: string;
  readonly timeout: Timeout;
  readonly environment: string;
}

async function prepare(
  input: WorkspaceInput,
  settings: WorkspaceSettings,
): Promise<PreparedCommand> {
  checkCommand(input.command);
  checkNames(input.env);
  const home = layer(settings.env, input.env)?.HOME ?? settings.home;
  const cd = input.cwd === undefined ? takeLeadingCd(input.command, home) : undefined;
  await intercept(input.command, cd?.command, settings);
  const texts = {
    ...input,
    cwd: input.cwd ?? cd?.directory,
    command: cd?.command ?? input.command,
  };
  const expanded = await expandUrls({ env: undefined, ...texts }, settings.urls);
  const overrides = layer(settings.env, expanded.env);
  const cwd = await resolveWorkingDirectory(expanded.cwd, settings.cwd, home);
  return {
    command: expanded.command,
    cwd,
    timeout: clampTimeout(input.timeout, settings.timeout),
    environment: resolveEnvironment({
      inherit: settings.inheritEnv,
      scrub: settings.scrub,
      defaults: settings.defaults,
      overrides,
      cwd,
    }),
  };
}

/** Stricter than the system: a name that bash cannot spell would be lost without a word. */
function checkNames(env: WorkspaceInput['env']): void {
  for (const name of Object.keys(env ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new InputError(`Invalid bash env name: ${name}`);
    }
  }
}

/**
 * Checks the command as it was given, and as it is run.
 *
 * @throws {ToolError} A rule sends the model to another tool.
 */
async function intercept(
  given: string,
  stripped: string | undefined,
  settings: WorkspaceSettings,
): Promise<void> {
  const rule = await settings.intercept?.(given, stripped ?? given);
  if (rule !== undefined) throw new ToolError('blocked', blockedMessage(rule, given));
}

type Overrides = Readonly<Record<string, string | undefined>> | undefined;

function layer(under: Overrides, over: Overrides): Overrides {
  return under === undefined || over === undefined ? (over ?? under) : { ...under, ...over };
}

async function runCommand(
  prepared: PreparedCommand,
  { signal, onUpdate }: ToolCall<WorkspaceDetails>,
  owner: Owner,
  settings: WorkspaceSettings,
): Promise<ToolResult<WorkspaceDetails>> {
  const { timeout } = prepared;
  const updates = onUpdate && tailUpdates(onUpdate, settings);
  try {
    const result = await execute(prepared.command, prepared.environment, {
      cwd: prepared.cwd,
      timeoutMs: Math.round(timeout.seconds * 1000),
      graceMs: settings.graceMs,
      ...captureLimits(settings.output),
      owner,
      ...(settings.shell && { shell: settings.shell }),
      ...(signal && { signal }),
      ...(updates && { onOutput: (chunk: OutputChunk) => updates.push(chunk) }),
    });
    if (!('output' in result)) throw new TypeError('expected the streams to be merged');
    return workspaceResult(result, timeout, settings);
  } finally {
    updates?.stop();
  }
}

function tailUpdates(
  onUpdate: NonNullable<ToolCall<WorkspaceDetails>['onUpdate']>,
  settings: WorkspaceSettings,
): TailUpdates {
  const updates = new TailUpdates({
    maxBytes: settings.output.tailBytes,
    intervalMs: UPDATE_INTERVAL_MS,
    emit(text) {
      try {
        onUpdate({ content: [{ type: 'text', text }], details: {} });
      } catch (error) {
        // Neither the command nor the host should fail because a display did.
        updates.stop();
        process.emitWarning(`onUpdate threw, no more updates for this call: ${String(error)}`);
      }
    },
  });
  return updates;
}

function toToolError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof ToolError || error instanceof ToolAbortError) return error;
  if (error instanceof InputError) return new ToolError('input', error.message, { cause: error });
  if (error instanceof LaunchError) {
    const message = `Command could not be started: ${error.message}`;
    return new ToolError('launch', message, { cause: error });
  }
  if (signal?.aborted) return new ToolAbortError(CANCELLED, { cause: error });
  return error;
}
