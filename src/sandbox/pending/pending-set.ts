import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxPolicy } from '../policy.js';
import { DISCARDED } from './store.js';

/** The changes that the commands with one policy have made, and that are not in effect. */
export interface PendingSet {
  readonly id: string;
  /** Where its layers are. */
  readonly directory: string;
}

/** By the policy: policies are compared by identity. A copy of a policy can have the same. */
const sets = new WeakMap<SandboxPolicy, { set?: PendingSet }>();

/** Returns the set of a policy. Undefined: no command was run with it yet. */
export function setOf(policy: SandboxPolicy): PendingSet | undefined {
  return isDropped(policy) ? undefined : sets.get(policy)?.set;
}

/** Has the commands with a copy of a policy see what those with the policy see. Returns the copy. */
export function withSameSet(policy: SandboxPolicy, copy: SandboxPolicy): SandboxPolicy {
  if (holdsChanges(policy)) sets.set(copy, holderOf(policy));
  return copy;
}

/** Returns where the set of a policy is, and will be. */
export function holderOf(policy: SandboxPolicy): { set?: PendingSet } {
  const holder = sets.get(policy) ?? {};
  sets.set(policy, holder);
  return holder;
}

/** Returns whether what a policy's commands have changed was dropped: the next ones begin anew. */
export function isDropped(policy: SandboxPolicy): boolean {
  const set = policy.changes === 'hold' ? sets.get(policy)?.set : undefined;
  if (set === undefined) return false;
  return !existsSync(set.directory) || existsSync(join(set.directory, DISCARDED));
}

/** Returns whether the changes of a policy's commands are not in effect. */
export function holdsChanges({ changes }: SandboxPolicy): boolean {
  return changes === 'hold' || changes === 'discard';
}

/** Returns the set of a plan. Undefined: changes are made where commands see them. */
export function pendingOf(
  plan: string,
): (PendingSet & { readonly isDiscarded: boolean }) | undefined {
  const found = /(?:^|\0)pending-at\0([^\0]*?([\da-f]{16}))\0(pending\0discarded\0)?/.exec(plan);
  if (!found) return undefined;
  const [, directory = '', id = '', discarded] = found;
  return { id, directory, isDiscarded: discarded !== undefined };
}
