import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeStateRoom } from '../../support/directories/state-directory.js';
import { InputError } from '../../support/errors.js';
import { randomBytes } from '../../support/random.js';
import { KEPT_SETTINGS } from '../defaults.js';
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

/**
 * Makes the entries of a plan by which changes are held. Empty: they are not.
 *
 * @param writable The directories that commands may write to: real paths.
 * @param direct Others, by which they talk to their host.
 * @throws {InputError} The user has no directory for it.
 * @throws {Error} The system's error.
 */
export function pendingEntries(
  policy: SandboxPolicy,
  writable: readonly string[],
  direct: readonly string[],
): string {
  if (!holdsChanges(policy)) return '';
  const { directory } = setOf(policy) ?? made(policy, writable);
  const discarded = policy.changes === 'discard' ? 'pending\0discarded\0' : '';
  const others = direct.map((path) => `pending-not\0${path}\0`).join('');
  return `pending-at\0${directory}\0${discarded}${others}`;
}

/** Returns the set of a policy. Undefined: no command was run with it yet. */
export function setOf(policy: SandboxPolicy): PendingSet | undefined {
  return isDropped(policy) ? undefined : sets.get(policy)?.set;
}

/** Has the commands with a copy of a policy see what those with the policy see. Returns the copy. */
export function withSameSet(policy: SandboxPolicy, copy: SandboxPolicy): SandboxPolicy {
  if (holdsChanges(policy)) sets.set(copy, holderOf(policy));
  return copy;
}

function holderOf(policy: SandboxPolicy): { set?: PendingSet } {
  const holder = sets.get(policy) ?? {};
  sets.set(policy, holder);
  return holder;
}

/** Returns whether what a policy's commands have changed was dropped: the next ones begin anew. */
export function isDropped(policy: SandboxPolicy): boolean {
  const set = policy.changes === 'hold' ? sets.get(policy)?.set : undefined;
  return set !== undefined && existsSync(join(set.directory, DISCARDED));
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

function made(policy: SandboxPolicy, writable: readonly string[]): PendingSet {
  const store = makeStateRoom('pending');
  if (store === undefined) {
    throw new InputError(
      `sandbox.changes: expected 'apply', since the user has no directory for what is held: XDG_STATE_HOME, or ~/.local/state, that no other user owns`,
    );
  }
  const id = randomBytes(8).toString('hex');
  const set = { id, directory: join(store, id) };
  mkdirSync(set.directory, { mode: 0o700 });
  const [workspace = ''] = writable;
  const guarded = writable.flatMap((root) => KEPT_SETTINGS.map((name) => join(root, name)));
  const note = (name: string, fields: readonly string[]) =>
    writeFileSync(join(set.directory, name), fields.join('\0'), { mode: 0o600 });
  note('guarded', guarded);
  note('about', ['at', `${Date.now()}`, 'workspace', workspace]);
  // The sweep takes it as soon as no sandbox has it.
  if (policy.changes === 'discard') note(DISCARDED, []);
  holderOf(policy).set = set;
  return set;
}
