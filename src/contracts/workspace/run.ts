import { OutputKeeper } from '../../artifacts/keep-output.js';
import { execute } from '../../command/execute.js';
import type { MergedResult, OutputChunk } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import type { ConsoleListeners } from '../../terminal/console.js';
import type { ToolResult } from '../contract.js';
import { explainLaunch } from '../workdir.js';
import { commandOptions } from './command-options.js';
import type { PreparedCommand } from './input/prepare.js';
import type { WorkspaceSettings } from './options.js';
import { captureLimits, endOutput } from './output/minimize.js';
import { type WorkspaceDetails, workspaceResult } from './output/result.js';
import { openConsole, runInOverlay } from './terminal/overlay.js';

/** The name under which outputs are kept. */
const TOOL = 'bash';

/** What a command is run with that is not its own. */
export interface RunContext {
  readonly owner: Owner;
  readonly settings: WorkspaceSettings;
  /** Aborted when the tool is disposed of: for what the owner knows nothing of. */
  readonly disposal: AbortSignal;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** In place of `onOutput`, when the command runs on a terminal. */
  readonly onTerminal?: ConsoleListeners | undefined;
}

/**
 * Runs a command to its end, and keeps its output if that is long.
 *
 * @throws {ToolError} It timed out, ended without an exit code, or was ended from its console.
 * @throws {ToolAbortError} It was cancelled.
 * @throws {LaunchError} It could not be started.
 */
export async function runCommand(
  prepared: PreparedCommand,
  context: RunContext,
): Promise<ToolResult<WorkspaceDetails>> {
  const { settings } = context;
  let notice = prepared.notice;
  if (prepared.terminal !== undefined) {
    const { ui, environment } = prepared.terminal;
    const console = await openConsole(ui, prepared, context);
    if (!('notice' in console)) {
      return runInOverlay(console, prepared, environment, context, TOOL);
    }
    notice = console.notice;
  }
  const keeper = await OutputKeeper.open(settings.artifacts, TOOL);
  const result = await executeWith(keeper, prepared, context);
  const ended = await endOutput(result, keeper, prepared.command, settings);
  return workspaceResult(result, prepared.timeout, settings, ended, { notice });
}

async function executeWith(
  keeper: OutputKeeper,
  prepared: PreparedCommand,
  context: RunContext,
): Promise<MergedResult> {
  const { onOutput } = context;
  try {
    return await execute(prepared.text, prepared.environment, {
      ...commandOptions(prepared, context, keeper, captureLimits(context.settings)),
      ...(onOutput && { onOutput }),
    });
  } catch (error) {
    keeper.abandon();
    throw await explainLaunch(error, prepared.cwd);
  }
}
