import { OutputKeeper } from '../../artifacts/keep-output.js';
import { execute } from '../../command/execute.js';
import type { MergedResult } from '../../engine/outcome.js';
import type { TerminalSize } from '../../options/terminal.js';
import { performCommand } from '../call.js';
import { TOOL, type ToolResult } from '../contract.js';
import { type PreparedCommand, workspaceOptions } from './input/prepare.js';
import type { RunContext, WorkspaceSettings } from './options.js';
import { type EndedOutput, endOutput } from './output/minimize.js';
import {
  shownOutput,
  type WorkspaceDetails,
  workspaceReceipt,
  workspaceResult,
} from './output/result.js';
import { finishOutput } from './output/show.js';
import { openConsole, readable, runInOverlay } from './terminal/overlay.js';

/**
 * Runs a command to its end, and keeps a long output.
 *
 * @throws {ToolError} The command timed out, ended without an exit code, or was ended from its console.
 * @throws {ToolAbortError} The call was cancelled.
 * @throws {LaunchError} The command could not be started.
 */
export async function runPrepared(
  prepared: PreparedCommand,
  context: RunContext,
): Promise<ToolResult<WorkspaceDetails>> {
  const { settings } = context;
  let notice = prepared.notice;
  if (prepared.terminal !== undefined) {
    const { ui, environment } = prepared.terminal;
    const console = await openConsole(ui, prepared, context);
    if (!('notice' in console)) {
      return runInOverlay(console, prepared, environment, context);
    }
    notice = console.notice;
  }
  const keeper = await OutputKeeper.open(settings.artifacts, TOOL);
  context.keeping?.(keeper);
  const result = await executeWith(keeper, prepared, context);
  if (prepared.ownTerminal !== undefined) {
    const size = context.follower?.terminal ?? prepared.ownTerminal;
    return terminalResult(result, size, keeper, prepared, settings);
  }
  const { minimizer } = settings;
  const ended: EndedOutput =
    minimizer === undefined
      ? { kept: await finishOutput(result, keeper, settings) }
      : await endOutput(result, keeper, prepared.command, minimizer, settings);
  const shown = shownOutput(result, settings, ended);
  const receipt = await workspaceReceipt(result, prepared, prepared.environment, shown, ended);
  const { kept, shortened } = ended;
  const answered = { kept, shortened, shown, receipt };
  return workspaceResult(result, prepared.timeout, settings, answered, { notice });
}

/** Makes the answer about a command that had a terminal of the model's own. */
async function terminalResult(
  result: MergedResult,
  size: TerminalSize,
  keeper: OutputKeeper,
  prepared: PreparedCommand,
  settings: WorkspaceSettings,
): Promise<ToolResult<WorkspaceDetails>> {
  const kept = await finishOutput(result, keeper, settings);
  const shown = await readable(shownOutput(result, settings, { kept }), size, settings);
  const receipt = await workspaceReceipt(result, prepared, prepared.environment, shown, { kept });
  return workspaceResult(result, prepared.timeout, settings, { kept, shown, receipt }, {});
}

function executeWith(
  keeper: OutputKeeper,
  prepared: PreparedCommand,
  context: RunContext,
): Promise<MergedResult> {
  const { settings, onOutput, follower } = context;
  const { cwd, text, environment, ownTerminal } = prepared;
  const onPipes = workspaceOptions(prepared, context, keeper, settings.captured, onOutput);
  const options = ownTerminal
    ? { ...onPipes, encoding: undefined, pty: ownTerminal, streams: 'merged' as const }
    : onPipes;
  return performCommand({ call: UNHEARD, cwd, keeper }, () =>
    execute(text, environment, options, follower),
  );
}

/** A call without listeners, since `onOutput` of the context tells them. */
const UNHEARD = {};
