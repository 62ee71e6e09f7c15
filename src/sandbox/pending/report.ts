import type { BaseResult } from '../../engine/outcome.js';
import { withCounts } from '../undo/report.js';
import { readUsedSet } from './list.js';
import { pendingOf } from './pending-set.js';

/**
 * Adds to a result what its command, and others with its policy, have changed, if that is not in effect.
 *
 * @param cwd The command's directory.
 */
export async function withPending<R extends Pick<BaseResult, 'sandbox' | 'changes'>>(
  result: R,
  plan: string,
  cwd: string,
): Promise<R> {
  const set = pendingOf(plan);
  if (set === undefined || result.sandbox === undefined) return result;
  const changes = await readUsedSet(set, cwd);
  return { ...result, sandbox: withCounts(result.sandbox, changes), changes };
}
