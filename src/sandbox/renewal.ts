import type { SandboxReport } from '../engine/sandbox-report.js';
import { pipesOf } from './pipes.js';
import type { SandboxPolicy } from './policy.js';
import type { ResolvedSandbox } from './resolve.js';

/** The sandboxes that commands of one policy and workspace have used. */
interface SandboxHistory {
  readonly plans: Set<string>;
  /** The plan of a new sandbox that was not reported to a command yet. */
  changed: string | undefined;
}

const MOST_HISTORIES = 256;
const MOST_PLANS = 32;
const histories = new Map<string, SandboxHistory>();
const historyOf = new WeakMap<object, SandboxHistory>();
const words = new WeakMap<SandboxPolicy, string>();

/**
 * Records that a command is about to run in a sandbox. A plan depends on the disk: one policy may lead to
 * another sandbox from one command to the next.
 *
 * @param directory The command's working directory.
 */
export function rememberSandbox(
  policy: SandboxPolicy,
  directory: string,
  sandbox: ResolvedSandbox,
): void {
  const name = `${wordsOf(policy)}\0${policy.workspace ?? directory}`;
  const history = histories.get(name) ?? { plans: new Set(), changed: undefined };
  // Histories are ordered by last use.
  histories.delete(name);
  histories.set(name, history);
  const [first] = histories.keys();
  if (histories.size > MOST_HISTORIES && first !== undefined) histories.delete(first);
  historyOf.set(sandbox, history);
  if (history.plans.has(sandbox.plan)) return;
  if (history.plans.size > 0) history.changed = sandbox.plan;
  if (history.plans.size >= MOST_PLANS) history.plans.clear();
  history.plans.add(sandbox.plan);
}

/** Returns a key for a policy: equal policies have the same key; of secrets only the names count. */
function wordsOf(policy: SandboxPolicy): string {
  const known = words.get(policy);
  if (known !== undefined) return known;
  const secrets = Object.keys(policy.secrets ?? {});
  const said = JSON.stringify([{ ...policy, secrets }, pipesOf(policy)]);
  words.set(policy, said);
  return said;
}

/**
 * Adds to the report whether this sandbox differs from that of the commands before, which only one
 * command is told.
 */
export function withRenewal(
  report: SandboxReport,
  sandbox: { readonly plan?: string },
): SandboxReport {
  const history = historyOf.get(sandbox);
  const isChanged = history?.changed !== undefined && history.changed === sandbox.plan;
  if (history !== undefined && isChanged) history.changed = undefined;
  return isChanged ? { ...report, renewed: true } : report;
}
