import type { ArtifactStore } from '../artifacts/store.js';
import { LaunchError } from '../engine/launch-error.js';
import type { OutputChunk } from '../engine/outcome.js';
import { createOwner } from '../engine/owner.js';
import { InputError } from '../pipeline/input-error.js';
import { CANCELLED } from '../pipeline/notices.js';
import { ExclusiveQueue } from '../pipeline/queue.js';
import { TailUpdates } from '../pipeline/tail-updates.js';
import { createValidator } from '../pipeline/validate.js';
import type { BashTool, ToolCall, ToolResult } from './contract.js';
import { ToolAbortError, ToolError } from './errors.js';
import {
  resolveWorkspaceOptions,
  type WorkspaceOptions,
  type WorkspaceSettings,
} from './workspace-options.js';
import { prepare } from './workspace-prepare.js';
import type { WorkspaceDetails } from './workspace-result.js';
import { runCommand } from './workspace-run.js';
import { type WorkspaceInput, workspaceDescription, workspaceSchema } from './workspace-schema.js';

const UPDATE_INTERVAL_MS = 50;

/** A tool of the `workspace` contract. */
export interface WorkspaceTool extends BashTool<WorkspaceDetails> {
  /** Where it keeps long outputs; undefined: nowhere. */
  readonly artifacts: ArtifactStore | undefined;
}

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
      return runUpdating(call, settings, (onOutput) =>
        runCommand(command, { owner, settings, signal: call.signal, onOutput }),
      );
    }, call.signal);
  }

  return {
    name: 'bash',
    description: workspaceDescription(settings),
    inputSchema,
    strict: true,
    concurrency: 'exclusive',
    artifacts: settings.artifacts,
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
      if (settings.ownsArtifacts) await settings.artifacts?.dispose();
    },
  };
}

/** Runs something that prints, with updates of the call until it has ended. */
async function runUpdating<T>(
  { onUpdate }: ToolCall<WorkspaceDetails>,
  settings: WorkspaceSettings,
  run: (onOutput: ((chunk: OutputChunk) => void) | undefined) => Promise<T>,
): Promise<T> {
  if (onUpdate === undefined) return run(undefined);
  const updates = tailUpdates(onUpdate, settings);
  try {
    return await run((chunk) => updates.push(chunk));
  } finally {
    updates.stop();
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
