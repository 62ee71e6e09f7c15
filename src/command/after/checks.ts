import type { EngineCommand } from '../../engine/message.js';
import type { RunResult } from '../../engine/outcome.js';
import type { Owner } from '../../engine/owner.js';
import type { CommandLimits } from '../../options/limits.js';
import type { OwnCommand } from '../../sandbox/git/checkout/checkout.js';
import { type LimitGroups, reportOf } from '../limits/groups.js';
import { afterSandboxed } from './in-sandbox.js';
import { wasKilled, withMemoryChecked } from './out-of-memory.js';
import { reachedLimits } from './reached-limits.js';
import { withSpillChecked } from './spill-check.js';

/** A command that has ended, with its owner, its limits and their control groups. */
interface EndedCommand {
  readonly command: EngineCommand;
  readonly groups?: LimitGroups | undefined;
  readonly limits?: CommandLimits | undefined;
  readonly owner?: Owner | undefined;
}

/** Runs a command of forkline itself, which is not reported to subscribers of the command channel. */
type RunApart = (own: OwnCommand, owner: Owner | undefined) => Promise<RunResult>;

/** Returns whether a result still lacks facts that only the system knows: denials, memory, the spill file. */
export function needsChecks(result: RunResult, limits: CommandLimits | undefined): boolean {
  const isPlain = result.sandbox === undefined && limits === undefined;
  return !isPlain || result.spill !== undefined || wasKilled(result);
}

/**
 * Adds the facts that only the system knows to a result, if {@link needsChecks} says so.
 *
 * @param isOwn Whether no other run has written the spill file.
 * @param since The time when the command was begun, by `performance.now()`. The duration subtracted from
 *   the current time would not give it: a busy host learns late that a command has ended.
 * @param runApart Runs a command of forkline itself.
 */
export async function withChecks(
  result: RunResult,
  isOwn: boolean,
  ended: EndedCommand,
  since: number,
  runApart: RunApart,
): Promise<RunResult> {
  const { command, groups, limits, owner } = ended;
  const kills = (await groups?.memoryKills()) ?? 0;
  const refusals = (await groups?.refusedProcesses()) ?? 0;
  if (result.background.length === 0) await groups?.remove();
  const withMemory: RunResult =
    kills > 0
      ? { ...result, outOfMemory: 'yes' }
      : wasKilled(result)
        ? await withMemoryChecked(result)
        : result;
  const withDenied =
    command.sandbox === undefined
      ? withMemory
      : await afterSandboxed(withMemory, command, since, owner, (look) => runApart(look, owner));
  const hasRun =
    withDenied.outcome.kind !== 'cancelled' || withDenied.outcome.ending.kind !== 'neverStarted';
  const withReport =
    limits && hasRun
      ? {
          ...withDenied,
          limits: reportOf(limits, groups, reachedLimits(withDenied, limits, refusals)),
        }
      : withDenied;
  return withSpillChecked(withReport, isOwn);
}
