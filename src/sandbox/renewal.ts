import type { SandboxReport } from '../engine/sandbox-report.js';
import { pipesOf } from './pipes.js';
import type { SandboxPolicy } from './policy.js';
import type { ResolvedSandbox } from './resolve.js';

/** The sandboxes that commands of one policy and workspace have used. */
interface Place {
  readonly plans: Set<string>;
  /** The plan of a new sandbox that was not reported to a command yet. */
  changed: string | undefined;
}

const MOST_PLACES = 256;
const MOST_PLANS = 32;
const places = new Map<string, Place>();
const placeOf = new WeakMap<object, Place>();
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
  const place = places.get(name) ?? { plans: new Set(), changed: undefined };
  // Places are ordered by last use.
  places.delete(name);
  places.set(name, place);
  const [first] = places.keys();
  if (places.size > MOST_PLACES && first !== undefined) places.delete(first);
  placeOf.set(sandbox, place);
  if (place.plans.has(sandbox.plan)) return;
  if (place.plans.size > 0) place.changed = sandbox.plan;
  if (place.plans.size >= MOST_PLANS) place.plans.clear();
  place.plans.add(sandbox.plan);
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
  const place = placeOf.get(sandbox);
  const isChanged = place?.changed !== undefined && place.changed === sandbox.plan;
  if (place !== undefined && isChanged) place.changed = undefined;
  return isChanged ? { ...report, renewed: true } : report;
}
