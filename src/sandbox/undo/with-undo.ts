import type { SandboxOption, SandboxPolicy } from '../policy.js';
import type { UndoOption } from './undo-policy.js';

/** Policies with another `undo`, by the policy and the value. Policies are compared by identity. */
const made = new WeakMap<object, Map<string, SandboxPolicy>>();
const OPEN: SandboxPolicy = { mode: 'danger-full-access', processes: 'host' };
const MOST_MADE = 16;

/**
 * Puts the option `undo` into the sandbox of a command. Without a sandbox, it makes one that confines nothing.
 *
 * @param sandbox As it was given: it may not be valid.
 * @param undo As it was given. Undefined or null: what the sandbox says.
 */
export function withUndo<Given>(
  sandbox: Given,
  undo: UndoOption | null | undefined,
): Given | SandboxOption {
  if (undo === undefined || undo === null) return sandbox;
  const isNone = sandbox === undefined || sandbox === null || sandbox === 'danger-full-access';
  if (isNone && undo === false) return sandbox;
  const base: unknown = isNone ? OPEN : typeof sandbox === 'string' ? named(sandbox) : sandbox;
  // What is no policy is refused where it is read.
  if (typeof base !== 'object' || base === null || Array.isArray(base)) return sandbox;
  const known = made.get(base) ?? new Map<string, SandboxPolicy>();
  made.set(base, known);
  const key = JSON.stringify(undo);
  const policy = known.get(key) ?? { ...base, undo };
  if (known.size < MOST_MADE) known.set(key, policy);
  return policy;
}

const NAMED = new Map<string, SandboxPolicy>(
  (['read-only', 'workspace-write'] as const).map((mode) => [mode, { mode }]),
);

function named(mode: string): SandboxPolicy | string {
  return NAMED.get(mode) ?? mode;
}
