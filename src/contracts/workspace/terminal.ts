import { OutputKeeper } from '../../artifacts/keep-output.js';
import { captureLimits, type ShownOutput } from '../../pipeline/output.js';
import type { TerminalSize } from '../../pipeline/terminal-size.js';
import { lastBytes } from '../../pipeline/utf8.js';
import { spawnIn } from '../../spawn.js';
import { Console, type ConsoleListeners } from '../../terminal/console.js';
import { readableText } from '../../terminal/readable.js';
import type { TerminalUi } from '../../terminal/ui.js';
import type { ToolResult } from '../contract.js';
import type { WorkspaceSettings } from './options.js';
import type { PreparedCommand } from './prepare.js';
import { shownOutput, type WorkspaceDetails, workspaceResult } from './result.js';
import type { RunContext } from './run.js';
import { noTerminal } from './terminal-choice.js';

/** A command's overlay, or why there is none. */
export type OpenedConsole = Console | { readonly notice: string };

/** Opens the overlay for a command; its interface may fail. */
export async function openConsole(
  ui: TerminalUi,
  command: string,
  listeners: ConsoleListeners | undefined,
): Promise<OpenedConsole> {
  try {
    return await Console.open(ui, command, listeners);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { notice: noTerminal(`the console could not be opened (${reason})`) };
  }
}

/**
 * Runs a command in its overlay to its end, and closes that.
 *
 * @throws {ToolError} It timed out, ended without an exit code, or was ended from the console.
 * @throws {ToolAbortError} It was cancelled.
 * @throws {LaunchError} It could not be started.
 */
export async function runInOverlay(
  console: Console,
  prepared: PreparedCommand,
  environment: string,
  context: RunContext,
  tool: string,
): Promise<ToolResult<WorkspaceDetails>> {
  const { settings, signal } = context;
  const { headBytes, tailBytes } = settings.output;
  const keeper = await OutputKeeper.open(settings.artifacts, tool);
  try {
    const live = await spawnIn(environment, prepared.command, {
      pty: console.size,
      encoding: 'bytes',
      cwd: prepared.cwd,
      timeoutMs: Math.round(prepared.timeout.seconds * 1000),
      graceMs: settings.graceMs,
      ...captureLimits(settings.output),
      owner: context.owner,
      ...(settings.shell && { shell: settings.shell }),
      ...(signal && { signal }),
      ...withSpill(keeper, headBytes + tailBytes),
    });
    const { result, dismissed, size } = await console.run(live);
    const kept = await keeper.finish(result.spill);
    const shown = await readable(shownOutput(result, settings, kept), size, settings);
    return workspaceResult(result, prepared.timeout, settings, kept, {
      shown,
      dismissed: dismissed && !signal?.aborted,
    });
  } catch (error) {
    keeper.abandon();
    throw error;
  } finally {
    await console.close();
  }
}

function withSpill(keeper: OutputKeeper, afterBytes: number) {
  const spill = keeper.spill(afterBytes);
  return spill === undefined ? {} : { spill };
}

/** What is shown as a person would have read it; the figures stay those of the output itself. */
async function readable(
  shown: ShownOutput,
  size: TerminalSize,
  { output }: WorkspaceSettings,
): Promise<ShownOutput> {
  const { head, marker, tail } = shown.parts ?? { head: '', marker: '', tail: shown.text };
  const text = (await readableText(head, size)) + marker + (await readableText(tail, size));
  // A few bytes can ask for a screen full of blanks.
  return { ...shown, text: lastBytes(text, 2 * (output.headBytes + output.tailBytes)) };
}
