import { type KeptOutput, keepText, OutputKeeper } from '../../artifacts/keep-output.js';
import { execute } from '../../command/execute.js';
import type { MergedResult } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { makeReceipt, type Receipt } from '../../receipt/receipt.js';
import { messageOf } from '../../support/errors.js';
import { DetachedSubject } from '../../tasks/detached/detached-subject.js';
import { prepareDetached, startInPlace } from '../../tasks/detached/start.js';
import { detachedOrder, lastingNotify } from '../../tasks/detached/watches/detached-watches.js';
import { keptFile, performCommand } from '../call.js';
import { TOOL, type ToolCall, type ToolResult } from '../contract.js';
import { ToolError } from '../errors.js';
import type { PendingEntry } from '../log-entry.js';
import {
  type CallMoment,
  commandOptions,
  placesOfOutput,
  shellEnvironment,
  showingPaths,
} from '../options.js';
import { explainLaunch } from '../workdir.js';
import { backgroundWork } from './background-task.js';
import type { ModesSettings } from './options.js';
import { limitsToSnip, type SnippedOutput, showOutput, snipOutput } from './output.js';
import {
  backgroundResult,
  type ForegroundDetails,
  foregroundResult,
  type ModesDetails,
} from './result.js';
import { windowOf } from './window.js';

/** The host at the moment of a call, and the directory of the conversation. */
export interface ModesMoment extends CallMoment {
  readonly cwd: string;
}

/**
 * Runs a command until it ends or its time is up.
 *
 * @throws {ToolError} The working directory cannot be used.
 * @throws {ToolAbortError} The call was cancelled.
 * @throws {LaunchError} The command could not be started.
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
  const environment = shellEnvironment(cwd, settings, moment);
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  const spill = keeper.spill(settings.maxOutputBytes);
  const updates = { maxBytes: settings.snipBytes };
  const result = await performCommand({ call, cwd, updates, keeper }, (onOutput) => {
    const own = { cwd, timeoutMs, owner, signal, onOutput, spill };
    const shell = showingPaths(settings, placesOfOutput(spill));
    return execute(command, environment, commandOptions(shell, limitsToSnip(settings), own));
  });
  const snipped = snipOutput(result.output, settings);
  const isWhole = snipped.totalBytes === undefined;
  const kept = await keep(result, keeper, isWhole, settings);
  const shown = showOutput(snipped, result, kept);
  const receipt = await modesReceipt(result, environment, shown, kept);
  return foregroundResult(result, shown, receipt, mode, settings);
}

/** Keeps an output that the answer does not show as it was printed. */
async function keep(
  { output: capture, spill }: MergedResult,
  keeper: OutputKeeper,
  isWhole: boolean,
  { outputs }: ModesSettings,
): Promise<KeptOutput> {
  const kept = await keeper.finish(spill);
  if (kept.kind === 'kept' || isWhole || capture.kind === 'cut') return kept;
  // Bytes that are no text may be too long only as they are shown. Then there is no file, and memory has all.
  return keepText(outputs, TOOL, capture.text);
}

/** Makes the receipt, without an artifact's id: a model of this contract knows only files. */
function modesReceipt(
  result: MergedResult,
  environment: string,
  { isCut }: SnippedOutput,
  kept: KeptOutput,
): Receipt | Promise<Receipt> {
  const keptError = isCut && kept.kind === 'failed' ? kept.reason : undefined;
  const cut = { output: isCut };
  return makeReceipt(result, { environment, cut, kept: keptFile(kept), keptError });
}

/**
 * Starts a command that outlives the host.
 *
 * @throws {ToolError} There is no place for the output, or the working directory cannot be used.
 * @throws {LaunchError} The command could not be started.
 */
export async function runInBackground(
  command: string,
  settings: ModesSettings,
  moment: ModesMoment,
  entry: PendingEntry | undefined,
): Promise<ToolResult<ModesDetails>> {
  const { cwd } = moment;
  const environment = shellEnvironment(cwd, settings, moment);
  const timeoutMs = milliseconds(settings.timeouts.background);
  const { graceMs, shell, priority, startsAtOnce, umask, onExec } = settings;
  const outputQuota = settings.maxBackgroundBytes;
  const limits = { timeoutMs, graceMs, outputQuota };
  const window = await windowOf(settings);
  const { sandbox } = window ?? {};
  const start = {
    ...{ cwd, ...limits, shell, priority, startsAtOnce, umask, sandbox, onExec },
    hasInput: false,
    pty: undefined,
    completionLine: true,
    outputLinkedIn: window?.directory,
    notify: settings.tasks && lastingNotify(undefined, settings.tasks),
  };
  const { place, order } = await prepareDetached(command, start).catch(noPlace);
  try {
    const pid = await startInPlace(place, command, environment, start);
    entry?.ofDetached(pid);
    if (settings.tasks !== undefined) {
      const subject = await DetachedSubject.open(place, order);
      // `follow()` has no limit: the command runs already.
      const watches = start.notify && detachedOrder(subject, start.notify);
      settings.tasks.follow({ ...backgroundWork(command, subject, settings.encoding), watches });
    }
    const seen = await window?.show({ id: place.id, pid, outputFile: place.output });
    return backgroundResult(pid, place.output, settings, seen);
  } catch (error) {
    throw await explainLaunch(error, cwd);
  }
}

function noPlace(cause: unknown): never {
  const reason = messageOf(cause);
  const message = `Command could not be started: no directory for its output: ${reason}`;
  throw new ToolError('launch', message, { cause });
}

const milliseconds = (seconds: number): number => Math.ceil(seconds * 1000);
