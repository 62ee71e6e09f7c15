import { OutputKeeper } from '../../artifacts/keep-output.js';
import type { MergedResult, OutputChunk } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { execute } from '../../pipeline/execute.js';
import type { ToolResult } from '../contract.js';
import { captureLimits, endOutput } from './minimize.js';
import type { WorkspaceSettings } from './options.js';
import type { PreparedCommand } from './prepare.js';
import { type WorkspaceDetails, workspaceResult } from './result.js';

/** The name under which outputs are kept. */
const TOOL = 'bash';

/** What a command is run with that is not its own. */
export interface RunContext {
  readonly owner: Owner;
  readonly settings: WorkspaceSettings;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
}

/**
 * Runs a command to its end, and keeps its output if that is long.
 *
 * @throws {ToolError} It timed out or ended without an exit code.
 * @throws {ToolAbortError} It was cancelled.
 * @throws {LaunchError} It could not be started.
 */
export async function runCommand(
  prepared: PreparedCommand,
  context: RunContext,
): Promise<ToolResult<WorkspaceDetails>> {
  const { settings } = context;
  const keeper = await OutputKeeper.open(settings.artifacts, TOOL);
  const result = await executeWith(keeper, prepared, context);
  const ended = await endOutput(result, keeper, prepared.command, settings);
  return workspaceResult(result, prepared.timeout, settings, ended);
}

async function executeWith(
  keeper: OutputKeeper,
  prepared: PreparedCommand,
  { owner, settings, signal, onOutput }: RunContext,
): Promise<MergedResult> {
  const { headBytes, tailBytes } = settings.output;
  const spill = keeper.spill(headBytes + tailBytes);
  try {
    const result = await execute(prepared.command, prepared.environment, {
      cwd: prepared.cwd,
      timeoutMs: Math.round(prepared.timeout.seconds * 1000),
      graceMs: settings.graceMs,
      ...captureLimits(settings),
      owner,
      ...(settings.shell && { shell: settings.shell }),
      ...(signal && { signal }),
      ...(onOutput && { onOutput }),
      ...(spill && { spill }),
    });
    if (!('output' in result)) throw new TypeError('expected the streams to be merged');
    return result;
  } catch (error) {
    keeper.abandon();
    throw error;
  }
}
