import { keepText, OutputKeeper } from '../../artifacts/keep-output.js';
import { executeDetached } from '../../command/detached.js';
import { execute } from '../../command/execute.js';
import type { ExecuteOptions } from '../../command/options.js';
import type { MergedResult } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { messageOf } from '../../support/errors.js';
import { whileListened } from '../call-listeners.js';
import type { ToolCall, ToolResult } from '../contract.js';
import { ToolError } from '../errors.js';
import { type CallMoment, commandOptions, shellEnvironment } from '../options.js';
import { explainLaunch } from '../workdir.js';
import type { ModesSettings } from './options.js';
import { limitsToSnip, type SnippedOutput, snipOutput } from './output.js';
import { makeOutputFile, removeOutputFile } from './output-file.js';
import {
  backgroundResult,
  type ForegroundDetails,
  foregroundResult,
  type ModesDetails,
} from './result.js';

/** The name under which outputs are kept. */
const TOOL = 'bash';

/** The host at the moment of a call, and where the conversation is. */
interface ModesMoment extends CallMoment {
  readonly cwd: string;
}

/**
 * Runs a command to its end, or to that of its time.
 *
 * @throws {ToolError} Its directory is none.
 * @throws {ToolAbortError} It was cancelled.
 * @throws {LaunchError} It could not be started.
 */
export async function runForeground(
  command: string,
  mode: ForegroundDetails['mode'],
  call: ToolCall<ModesDetails>,
  owner: Owner,
  settings: ModesSettings,
  moment: ModesMoment,
): Promise<ToolResult<ModesDetails>> {
  const { cwd } = moment;
  const { signal } = call;
  const timeoutMs = milliseconds(settings.timeouts[mode]);
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  const spill = keeper.spill(settings.maxOutputBytes);
  const run = (onOutput: ExecuteOptions['onOutput']): Promise<MergedResult> => {
    const own = { cwd, timeoutMs, owner, signal, onOutput, spill };
    const options = commandOptions(settings, limitsToSnip(settings), own);
    return execute(command, shellEnvironment(cwd, settings, moment), options).catch(
      async (error) => {
        keeper.abandon();
        throw await explainLaunch(error, cwd);
      },
    );
  };
  const result = await whileListened(call, run, { maxBytes: settings.snipBytes });
  const output = snipOutput(result.output, settings);
  const path = await keep(result, keeper, output, settings);
  return foregroundResult(result, { ...output, ...(path && { path }) }, mode, settings);
}

/** Where all of a cut output is; undefined: it could not be kept, which is no reason to fail. */
async function keep(
  { output: capture, spill }: MergedResult,
  keeper: OutputKeeper,
  { totalBytes }: SnippedOutput,
  { outputs }: ModesSettings,
): Promise<string | undefined> {
  const kept = await keeper.finish(spill);
  if (kept.kind === 'kept') return totalBytes === undefined ? undefined : kept.artifact.path;
  // Not text, and too long only as it is shown: there is no file, and all of that is here.
  if (totalBytes === undefined || capture.kind === 'cut') return undefined;
  const artifact = await keepText(outputs, TOOL, capture.text);
  return 'reason' in artifact ? undefined : artifact.path;
}

/**
 * Starts a command that outlives the host.
 *
 * @throws {ToolError} There is no place for its output, or its directory is none.
 * @throws {LaunchError} It could not be started.
 */
export async function runInBackground(
  command: string,
  settings: ModesSettings,
  moment: ModesMoment,
): Promise<ToolResult<ModesDetails>> {
  const { cwd } = moment;
  const environment = shellEnvironment(cwd, settings, moment);
  const timeoutMs = milliseconds(settings.timeouts.background);
  const { graceMs, shell, maxBackgroundBytes: outputQuota } = settings;
  const outputPath = await makeOutputFile(timeoutMs + graceMs).catch(noPlace);
  try {
    const options = { cwd, outputPath, outputQuota, timeoutMs, graceMs, shell };
    const pid = await executeDetached(command, environment, options);
    return backgroundResult(pid, outputPath, settings);
  } catch (error) {
    await removeOutputFile(outputPath);
    throw await explainLaunch(error, cwd);
  }
}

function noPlace(cause: unknown): never {
  const reason = messageOf(cause);
  const message = `Command could not be started: no directory for its output: ${reason}`;
  throw new ToolError('launch', message, { cause });
}

const milliseconds = (seconds: number): number => Math.ceil(seconds * 1000);
