import type { SandboxPolicy } from './policy.js';

/** By policy the directory that has them. */
const known = new WeakMap<SandboxPolicy, string>();

/**
 * The same policy for commands that their host talks to by pipes in a directory: that can be written to
 * whatever the policy says, and is no part of what commands are told of it.
 */
export function withPipes(policy: SandboxPolicy, directory: string): SandboxPolicy {
  const same = { ...policy };
  known.set(same, directory);
  return same;
}

/** That directory; none: there is none. */
export function pipesOf(policy: SandboxPolicy): readonly string[] {
  const directory = known.get(policy);
  return directory === undefined ? [] : [directory];
}
