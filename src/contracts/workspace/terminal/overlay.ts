import { OutputKeeper } from '../../../artifacts/keep-output.js';
import { spawnIn } from '../../../command/spawn.js';
import type { TerminalSize } from '../../../options/terminal.js';
import { messageOf } from '../../../support/errors.js';
import { formatSize, lastBytes } from '../../../support/text.js';
import { unlessAborted, withinTime } from '../../../support/timing.js';
import { Console, type ConsoleRun } from '../../../terminal/console.js';
import { readableText } from '../../../terminal/readable.js';
import type { TerminalUi } from '../../../terminal/ui.js';
import { TOOL, type ToolResult } from '../../contract.js';
import { CANCELLED, ToolAbortError } from '../../errors.js';
import { explainLaunch } from '../../workdir.js';
import { type PreparedCommand, workspaceOptions } from '../input/prepare.js';
import { noTerminal } from '../input/terminal-choice.js';
import type { RunContext, WorkspaceSettings } from '../options.js';
import {
  shownOutput,
  type WorkspaceDetails,
  workspaceReceipt,
  workspaceResult,
} from '../output/result.js';
import { finishOutput, limitsToShow, type ShownOutput } from '../output/show.js';

/** A command's overlay, or a line about why there is none. */
type OpenedConsole = Console | { readonly notice: string };

/**
 * Opens the overlay for a command. The user interface may fail, or take longer than the command's timeout.
 *
 * @throws {ToolAbortError} The call was cancelled meanwhile.
 */
export async function openConsole(
  ui: TerminalUi,
  { command, timeout }: PreparedCommand,
  { signal, disposal, onTerminal }: RunContext,
): Promise<OpenedConsole> {
  const opening = Console.open(ui, command, onTerminal);
  try {
    const within = withinTime(opening, timeout.seconds * 1000, 'it took too long');
    return await unlessAborted(within, signal, disposal);
  } catch (error) {
    // A console that opens later is closed.
    opening.then(
      (late) => late.close(),
      () => {},
    );
    if (signal?.aborted || disposal.aborted) {
      throw new ToolAbortError(CANCELLED, { cause: error });
    }
    const reason = messageOf(error);
    return { notice: noTerminal(`the console could not be opened (${reason})`) };
  }
}

/**
 * Runs a command in its overlay to its end, and closes the overlay.
 *
 * @throws {ToolError} The command timed out, ended without an exit code, or was ended from the console.
 * @throws {ToolAbortError} The call was cancelled.
 * @throws {LaunchError} The command could not be started.
 */
export async function runInOverlay(
  console: Console,
  prepared: PreparedCommand,
  environment: string,
  context: RunContext,
): Promise<ToolResult<WorkspaceDetails>> {
  const { settings, signal } = context;
  const keeper = await OutputKeeper.open(settings.artifacts, TOOL);
  const { result, dismissed, size } = await runIn(console, prepared, environment, context, keeper);
  const kept = await finishOutput(result, keeper, settings);
  const shown = await readable(shownOutput(result, settings, { kept }), size, settings);
  const receipt = await workspaceReceipt(result, prepared, environment, shown, { kept });
  const extras = { dismissed: dismissed && !signal?.aborted };
  const answered = { kept, shown, receipt };
  return workspaceResult(result, prepared.timeout, settings, answered, extras);
}

async function runIn(
  console: Console,
  prepared: PreparedCommand,
  environment: string,
  context: RunContext,
  keeper: OutputKeeper,
): Promise<ConsoleRun> {
  try {
    const live = await spawnIn(environment, prepared.text, {
      ...workspaceOptions(prepared, context, keeper, limitsToShow(context.settings.output)),
      pty: console.size,
      encoding: 'bytes',
    });
    return await console.run(live);
  } catch (error) {
    keeper.abandon();
    // The tool was disposed of between the opening of the console and the start.
    if (context.owner.isDisposed) throw new ToolAbortError(CANCELLED, { cause: error });
    throw await explainLaunch(error, prepared.cwd);
  } finally {
    await console.close();
  }
}

/** Converts the shown output to what a terminal would display; the figures stay those of the raw output. */
export async function readable(
  shown: ShownOutput,
  size: TerminalSize,
  { output }: WorkspaceSettings,
): Promise<ShownOutput> {
  const { head, marker, tail } = shown.parts ?? { head: '', marker: '', tail: shown.text };
  const text = (await readableText(head, size)) + marker + (await readableText(tail, size));
  return { ...shown, text: lastLines(text, 2 * (output.headBytes + output.tailBytes)) };
}

/** Returns the end of a text, since a few bytes of output can draw a screen full of blanks. */
function lastLines(text: string, mostBytes: number): string {
  const last = lastBytes(text, mostBytes);
  if (last.length === text.length) return text;
  const lines = last.slice(last.indexOf('\n') + 1);
  const bytes = Buffer.byteLength(text) - Buffer.byteLength(lines);
  return `[… ${formatSize(bytes)} of the drawn output not shown …]\n${lines}`;
}
