import { checkCommand } from '../../command/command-line.js';
import { execute } from '../../command/execute.js';
import type { SeparateResult } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import { makeReceipt } from '../../receipt/receipt.js';
import { type ContractCall, performCommand } from '../call.js';
import type { ToolResult } from '../contract.js';
import { ToolError } from '../errors.js';
import { type CallMoment, commandOptions, shellEnvironment } from '../options.js';
import { directoryMissing } from '../workdir.js';
import { DIAGNOSED, type Diagnosis, findDiagnosis, speaksForShell } from './diagnosis.js';
import type { PlainSettings } from './options.js';
import { KEPT_OF_END, type PlainDetails, plainResult, showStreams } from './result.js';

/** The host at the moment of a call, and the directory for the command. */
export interface PlainMoment extends CallMoment {
  /** Undefined: it was to be the host's working directory, which has been removed. */
  readonly cwd: string | undefined;
}

/**
 * Runs a command to its end.
 *
 * @throws {InputError} The command is blank.
 * @throws {ToolError} The working directory cannot be used.
 * @throws {LaunchError} The command could not be started.
 * @throws {ToolAbortError} The call was cancelled.
 */
export async function runPlainCommand(
  command: string,
  owner: Owner,
  settings: PlainSettings,
  { call, moment }: Pick<ContractCall<PlainDetails, PlainMoment>, 'call' | 'moment'>,
): Promise<ToolResult<PlainDetails>> {
  checkCommand(command);
  const { cwd } = moment;
  if (cwd === undefined) {
    throw new ToolError('directory', directoryMissing("the host's own was removed"));
  }
  const { signal } = call;
  const { timeoutSeconds, maxStdoutBytes, maxStderrBytes } = settings;
  const environment = shellEnvironment(cwd, settings, moment);
  const timeoutMs = Math.max(1, Math.round(timeoutSeconds * 1000));
  // The engine has one limit for both streams; the smaller of the two is applied when they are shown.
  const limits = { headBytes: Math.max(maxStdoutBytes, maxStderrBytes), tailBytes: KEPT_OF_END };
  const result = await performCommand({ call, cwd }, (onOutput) => {
    const own = { cwd, timeoutMs, owner, signal, onOutput };
    const options = commandOptions(settings, limits, own);
    return execute(command, environment, { ...options, streams: 'separate' });
  });
  const shown = showStreams(result, settings);
  const cut = { stdout: shown.stdout.truncated, stderr: shown.stderr.truncated };
  const receipt = await makeReceipt(result, { environment, cut });
  const diagnosis = await diagnosisOf(result, environment, settings);
  return plainResult(result, shown, receipt, diagnosis, settings);
}

async function diagnosisOf(
  { outcome, stderr }: SeparateResult,
  environment: string,
  { shell }: PlainSettings,
): Promise<Diagnosis | undefined> {
  if (outcome.kind !== 'exited' || !(outcome.exitCode in DIAGNOSED)) return undefined;
  const end = stderr.kind === 'complete' ? stderr.text : stderr.tail;
  const diagnosis = findDiagnosis(outcome.exitCode, end);
  if (diagnosis === undefined) return undefined;
  return (await speaksForShell(diagnosis.speaker, shell, environment)) ? diagnosis : undefined;
}
