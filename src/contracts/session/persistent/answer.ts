import { wasKilled, withMemoryChecked } from '../../../command/after/out-of-memory.js';
import { reachedLimits } from '../../../command/after/reached-limits.js';
import type { Ending, Outcome } from '../../../engine/outcome.js';
import { sandboxFacts } from '../../../engine/told/report.js';
import type { PersistentShell, ShellAnswer, ShellStop } from '../../../persistent-shell/shell.js';
import type { ReceiptContext, ReceiptSource } from '../../../receipt/receipt.js';
import type { ToolResult } from '../../contract.js';
import {
  type CallTimeout,
  endDetails,
  type SessionDetails,
  sessionReceipt,
  sessionResult,
  shownStreams,
  timeoutChange,
} from '../result.js';
import type { Place, Session } from '../session.js';
import { lostNotice, UNSEEN } from './told.js';

/** A call that a shell has run, and the session's directory at its start. */
export interface RanCall {
  readonly shell: PersistentShell;
  readonly answer: ShellAnswer;
  readonly from: Place;
}

/**
 * Makes the answer to a call, and moves the session to the directory where it has ended.
 *
 * @param notices Lines from before the end of the call.
 * @throws {ToolAbortError} The call was cancelled.
 */
export async function answerOf(
  { settings, directory, owner }: Session,
  { shell, answer, from }: RanCall,
  command: string,
  timeout: CallTimeout,
  notices: readonly string[],
): Promise<ToolResult<SessionDetails>> {
  const { end, hasBegun } = answer;
  const isLost = end.kind === 'shellEnded';
  const place = isLost ? end.shell.directory : end.directory;
  // A shell that was ended before it had reached the session's directory must not move the session.
  if (shell.isReady) await directory.follow(from, place);
  const known = resultOf(shell, answer, command, timeout.milliseconds ?? settings.timeoutMs);
  // When the shell itself has ended, the engine has made this check.
  const isToCheck = !isLost && known.outOfMemory === undefined && wasKilled(known);
  const result = isToCheck ? await withMemoryChecked(known) : known;
  const streams = shownStreams(result, settings.maxCharacters);
  // Read now, since other calls may move the session during the next wait.
  const cwd = directory.path;
  const receipt = await sessionReceipt(result, streams, shell.environment, factsOf(answer));
  const details = endDetails(cwd, timeout, result, receipt);
  const all = [
    ...notices,
    timeoutChange(timeout, settings),
    place === undefined
      ? `The working directory could not be followed; it stays ${directory.path}.`
      : undefined,
    isLost && !owner.isDisposed ? lostNotice(directory.path, end.reason, hasBegun) : undefined,
  ];
  return sessionResult(result, streams, details, all, shell.pid);
}

/** The facts about a call that its receipt is made from, besides its result. */
export function factsOf({
  end,
  hadPipefail,
}: ShellAnswer): Pick<ReceiptContext, 'troubles' | 'hasPipefail'> {
  const isUnseen = end.kind === 'reported' && end.background === undefined;
  return { troubles: isUnseen ? [UNSEEN] : [], ...(hadPipefail && { hasPipefail: true }) };
}

/** Makes the call's own result, without CPU time and memory, which are known only of the whole shell. */
export function resultOf(
  { pid, limits }: PersistentShell,
  { end, stdout, stderr, durationMs, sandbox, counted }: ShellAnswer,
  command: string,
  timeoutMs: number,
): ReceiptSource {
  const { ranOutOfMemory } = counted;
  const base = { command, pid, durationMs, stdout, stderr, ...(sandbox && sandboxFacts(sandbox)) };
  if (end.kind === 'reported') {
    const outcome = { kind: 'exited', exitCode: end.exitCode } as const;
    const background = end.background ?? [];
    const memory = ranOutOfMemory && ({ outOfMemory: 'yes' } as const);
    return { ...base, outcome, background, ...memory, ...limitsOf(limits, { outcome }, counted) };
  }
  const { background, notLowered } = end.shell;
  // The shell's own report covers the calls before this one, too.
  const isOfBefore = end.shell.outOfMemory === 'yes' && !ranOutOfMemory;
  const outOfMemory = isOfBefore ? undefined : end.shell.outOfMemory;
  const outcome = outcomeOf(end.shell.outcome, end.reason, timeoutMs);
  const troubles = { ...(outOfMemory && { outOfMemory }), ...(notLowered && { notLowered }) };
  const spent = limitsOf(limits, { ...end.shell, outcome }, counted);
  return { ...base, outcome, background, ...troubles, ...spent };
}

/** The field about limits, with those that this call has run into; none: there are no limits. */
function limitsOf(
  limits: PersistentShell['limits'],
  result: Pick<ReceiptSource, 'outcome' | 'cpu'>,
  { refusedProcesses }: ShellAnswer['counted'],
): Pick<ReceiptSource, 'limits'> {
  if (limits === undefined) return {};
  const reached = reachedLimits(result, limits.asked, refusedProcesses);
  return { limits: { ...limits.report, ...(reached.length > 0 && { reached }) } };
}

function outcomeOf(shell: Outcome, reason: ShellStop | undefined, timeoutMs: number): Outcome {
  if (reason === undefined || (shell.kind === 'cancelled' && shell.by === 'owner')) return shell;
  if (reason === 'lost') return { kind: 'unknown' };
  const forced = 'forced' in shell && shell.forced;
  const ending: Ending = 'ending' in shell ? shell.ending : shell;
  if (reason === 'timedOut') {
    const seen = 'reason' in shell ? { reason: shell.reason } : {};
    return { kind: 'timedOut', timeoutMs, forced, ending, ...seen };
  }
  return { kind: 'cancelled', by: 'signal', forced, ending };
}
