import type { RunResult } from '../../engine/outcome.js';
import type { ReachedLimit } from '../../engine/told/limits-report.js';
import type { CommandLimits } from '../../options/limits.js';
import { signalExitCode } from '../../support/signals.js';
import { wasKilled } from './out-of-memory.js';

/**
 * Finds the limits that a command has run into, besides that of memory.
 *
 * @param refusals How often its control group has refused to start a process.
 */
export function reachedLimits(
  result: Pick<RunResult, 'outcome' | 'cpu'>,
  limits: CommandLimits,
  refusals: number,
): readonly ReachedLimit[] {
  return [
    ...(refusals > 0 ? (['processes'] as const) : []),
    ...(hasSpentTime(result, limits) ? (['cpuSeconds'] as const) : []),
  ];
}

/** The shell's exit code for a program that the signal of this limit has ended. */
const OUT_OF_TIME = signalExitCode('SIGXCPU');

/**
 * Returns whether the limit of processor time has ended the command, or its last program. A program that goes
 * on after SIGXCPU gets SIGKILL, which others may have sent as well; then its time decides.
 */
function hasSpentTime(
  { outcome, cpu }: Pick<RunResult, 'outcome' | 'cpu'>,
  { cpuSeconds }: CommandLimits,
): boolean {
  if (cpuSeconds === undefined) return false;
  if (outcome.kind === 'signaled' && outcome.signal === 'SIGXCPU') return true;
  if (outcome.kind === 'exited' && outcome.exitCode === OUT_OF_TIME) return true;
  const spentMs = cpu === undefined ? 0 : cpu.userMs + cpu.systemMs;
  return wasKilled({ outcome }) && spentMs >= cpuSeconds * 1000;
}
