import type { SandboxReport } from '../engine/sandbox-report.js';
import { pipesOf } from './pipes.js';
import type { SandboxPolicy } from './policy.js';
import type { ResolvedSandbox } from './resolve.js';

/** The sandboxes that commands of one policy and workspace have been in. */
interface Place {
  readonly plans: Set<string>;
  /** The plan of another one, of which no command has been told yet. */
  changed: string | undefined;
}

const MOST_PLACES = 256;
const MOST_PLANS = 32;
const places = new Map<string, Place>();
const placeOf = new WeakMap<object, Place>();
const words = new WeakMap<SandboxPolicy, string>();

/**
 * Notes that a command is about to run in a sandbox. What is on the disk is part of a plan: one policy may come to
 * another sandbox from one command to the next.
 *
 * @param directory Where it starts.
 */
export function rememberSandbox(
  policy: SandboxPolicy,
  directory: string,
  sandbox: ResolvedSandbox,
): void {
  const name = `${wordsOf(policy)}\0${policy.workspace ?? directory}`;
  const place = places.get(name) ?? { plans: new Set(), changed: undefined };
  // Those that were used last come last.
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

/** Policies that say the same are one; of secrets only the names are told apart. */
function wordsOf(policy: SandboxPolicy): string {
  const known = words.get(policy);
  if (known !== undefined) return known;
  const secrets = Object.keys(policy.secrets ?? {});
  const said = JSON.stringify([{ ...policy, secrets }, pipesOf(policy)]);
  words.set(policy, said);
  return said;
}

/**
 * The report with whether this is another sandbox than that of the commands before, which is told to one
 * command alone.
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
