import { checkCommand } from '../../command/command-line.js';
import { execute } from '../../command/execute.js';
import type { SeparateResult } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { makeReceipt } from '../../receipt/receipt.js';
import { whileListened } from '../call-listeners.js';
import type { ToolCall, ToolResult } from '../contract.js';
import { ToolError } from '../errors.js';
import { type CallMoment, commandOptions, shellEnvironment } from '../options.js';
import { directoryMissing, explainLaunch } from '../workdir.js';
import { type Diagnosis, findDiagnosis, speaksForShell } from './diagnosis.js';
import type { PlainSettings } from './options.js';
import { KEPT_OF_END, type PlainDetails, plainResult, showStreams } from './result.js';

/** What a command is run with that is not its own. */
interface PlainCall {
  readonly owner: Owner;
  readonly settings: PlainSettings;
  readonly call: ToolCall<PlainDetails>;
  readonly moment: PlainMoment;
}

/** The host at the moment of a call, with the directory for the command. */
export interface PlainMoment extends CallMoment {
  /** Undefined: it was the host's own and is gone. */
  readonly cwd: string | undefined;
}

/**
 * Runs a command to its end.
 *
 * @throws {InputError} The command is blank.
 * @throws {ToolError} Its directory is none.
 * @throws {LaunchError} It could not be started.
 * @throws {ToolAbortError} It was cancelled.
 */
export async function runPlainCommand(
  command: string,
  context: PlainCall,
): Promise<ToolResult<PlainDetails>> {
  const { settings, moment } = context;
  checkCommand(command);
  const { cwd } = moment;
  if (cwd === undefined) {
    throw new ToolError('directory', directoryMissing("the host's own was removed"));
  }
  const environment = shellEnvironment(cwd, settings, moment);
  const result = await executeIn(cwd, command, environment, context).catch(async (error) => {
    throw await explainLaunch(error, cwd);
  });
  const shown = showStreams(result, settings);
  const cut = { stdout: shown.stdout.truncated, stderr: shown.stderr.truncated };
  const receipt = await makeReceipt(result, { environment, cut });
  const diagnosis = await diagnosisOf(result, environment, settings);
  return plainResult(result, shown, receipt, diagnosis, settings);
}

function executeIn(
  cwd: string,
  command: string,
  environment: string,
  { owner, settings, call }: PlainCall,
): Promise<SeparateResult> {
  const { signal } = call;
  const timeoutMs = Math.max(1, Math.round(settings.timeoutSeconds * 1000));
  // The streams have one limit in the engine; the smaller one is kept when they are shown.
  const headBytes = Math.max(settings.maxStdoutBytes, settings.maxStderrBytes);
  const limits = { headBytes, tailBytes: KEPT_OF_END };
  return whileListened(call, (onOutput) => {
    const own = { cwd, timeoutMs, owner, signal, onOutput };
    return execute(command, environment, {
      ...commandOptions(settings, limits, own),
      streams: 'separate',
    });
  });
}

async function diagnosisOf(
  { outcome, stderr }: SeparateResult,
  environment: string,
  { shell }: PlainSettings,
): Promise<Diagnosis | undefined> {
  if (outcome.kind !== 'exited') return undefined;
  const end = stderr.kind === 'complete' ? stderr.text : stderr.tail;
  const diagnosis = findDiagnosis(outcome.exitCode, end);
  if (diagnosis === undefined) return undefined;
  return (await speaksForShell(diagnosis.speaker, shell, environment)) ? diagnosis : undefined;
}
