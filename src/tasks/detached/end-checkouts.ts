import { runApart } from '../../command/promise.js';
import type { SandboxReport } from '../../engine/sandbox-report.js';
import { sandboxEnvironment } from '../../sandbox/environment.js';
import {
  type CheckoutMarks,
  lookingCommand,
  withCheckoutsSince,
} from '../../sandbox/git/checkout/checkout.js';
import { markCheckouts } from '../../sandbox/git/checkout/mark.js';
import type { ResolvedSandbox } from '../../sandbox/resolve.js';

/** How a detached command began that this process has started. */
interface Begun {
  readonly environment: string;
  readonly sandbox: ResolvedSandbox;
  readonly marks: CheckoutMarks;
  /** Its end is asked about more than once. */
  looked?: Promise<SandboxReport>;
}

const MOST_BEGUN = 64;
const begun = new Map<string, Begun>();

/**
 * Has the working trees of git compared once a detached command has ended, if this process is there then.
 *
 * @param directory Its place.
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

/** The report with what git could not replace, as far as this process can tell. */
export async function withEndCheckouts(
  directory: string,
  report: SandboxReport,
): Promise<SandboxReport> {
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
  { environment, sandbox, marks }: Begun,
  report: SandboxReport,
): Promise<SandboxReport> {
  const place = {
    environment: sandboxEnvironment(environment, sandbox),
    sandbox,
    directory: undefined,
  };
  // What else can't be seen is looked for each time.
  const { unseen: _, ...known } = report;
  const told = await withCheckoutsSince({ sandbox: known }, marks, (script, args) =>
    runApart(lookingCommand(place, script, args), undefined),
  );
  return told.sandbox;
}
