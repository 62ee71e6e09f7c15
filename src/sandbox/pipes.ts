import { withSameSet } from './pending/pending-set.js';
import type { SandboxPolicy } from './policy.js';

/** The directory of pipes, by policy. */
const known = new WeakMap<SandboxPolicy, string>();

/**
 * Copies a policy for commands that their host talks to by pipes in a directory: it is writable whatever
 * the policy says, and not mentioned in reports.
 */
export function withPipes(policy: SandboxPolicy, directory: string): SandboxPolicy {
  const same = withSameSet(policy, { ...policy });
  known.set(same, directory);
  return same;
}

/** Returns the directory of pipes, if there is one. */
export function pipesOf(policy: SandboxPolicy): readonly string[] {
  const directory = known.get(policy);
  return directory === undefined ? [] : [directory];
}
