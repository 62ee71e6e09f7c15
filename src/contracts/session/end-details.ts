import type { RunResult } from '../../engine/outcome.js';
import type { Receipt } from '../../receipt/receipt.js';
import type { CallTimeout, SessionDetails } from './result.js';
import { detailsOfTimeout } from './timeout.js';

/**
 * What details say of a command that ended.
 *
 * @param cwd Where the next one will start.
 */
export function endDetails(
  cwd: string,
  timeout: CallTimeout,
  { durationMs, outcome, background }: Pick<RunResult, 'durationMs' | 'outcome' | 'background'>,
  receipt: Receipt,
): SessionDetails & { readonly receipt: Receipt } {
  return {
    cwd,
    ...detailsOfTimeout(timeout),
    durationMs,
    outcome,
    ...(background.length > 0 && { background }),
    receipt,
  };
}
