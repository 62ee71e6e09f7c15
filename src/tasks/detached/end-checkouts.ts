import { runApart } from '../../command/promise.js';
import type { EngineReport } from '../../engine/sandbox-report.js';
import { sandboxEnvironment } from '../../sandbox/environment.js';
import {
  type CheckoutMarks,
  lookingCommand,
  withCheckoutsSince,
} from '../../sandbox/git/checkout/checkout.js';
import { markCheckouts } from '../../sandbox/git/checkout/mark.js';
import type { ResolvedSandbox } from '../../sandbox/resolve.js';

/** Data about a detached command that this process started. */
interface MarkedCommand {
  readonly environment: string;
  readonly sandbox: ResolvedSandbox;
  readonly marks: CheckoutMarks;
  /** The comparison of its working trees, which is made once. */
  looked?: Promise<EngineReport>;
}

const MOST_BEGUN = 64;
const begun = new Map<string, MarkedCommand>();

/**
 * Compares git's working trees once a detached command has ended, if this process still runs then.
 *
 * @param directory The task's directory.
 */
export function markDetached(
  directory: string,
  environment: string,
  sandbox: ResolvedSandbox,
): void {
  const marks = markCheckouts(sandbox);
  if (marks.length === 0) return;
  const [oldest] = begun.keys();
  if (begun.size >= MOST_BEGUN && oldest !== undefined) begun.delete(oldest);
  begun.set(directory, { environment, sandbox, marks });
}

/** Adds to the report the files that git could not replace, as far as this process can tell. */
export async function withEndCheckouts(
  directory: string,
  report: EngineReport,
): Promise<EngineReport> {
  const known = begun.get(directory);
  if (known === undefined) return report;
  known.looked ??= lookAt(known, report);
  const { incomplete, unseen = [] } = await known.looked;
  const all = [...(report.unseen ?? []), ...unseen];
  return {
    ...report,
    ...(incomplete && { incomplete }),
    ...(all.length > 0 && { unseen: all }),
  };
}

async function lookAt(
  { environment, sandbox, marks }: MarkedCommand,
  report: EngineReport,
): Promise<EngineReport> {
  const place = {
    environment: sandboxEnvironment(environment, sandbox),
    sandbox,
    directory: undefined,
  };
  // Other facts that cannot be seen are determined for each report.
  const { unseen: _, ...known } = report;
  const told = await withCheckoutsSince({ sandbox: known }, marks, (script, args) =>
    runApart(lookingCommand(place, script, args), undefined),
  );
  return told.sandbox;
}
