import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeStateRoom } from '../../support/directories/state-directory.js';
import { InputError } from '../../support/errors.js';
import { randomBytes } from '../../support/random.js';
import { KEPT_SETTINGS } from '../defaults.js';
import { obeyedIn } from '../git/names.js';
import { gitPlaces } from '../git/places.js';
import type { SandboxPolicy } from '../policy.js';
import { holderOf, holdsChanges, type PendingSet, setOf } from './pending-set.js';
import { DISCARDED } from './store.js';

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
  const guarded = writable.flatMap((root) => [
    ...KEPT_SETTINGS.map((name) => join(root, name)),
    ...obeyedByGit(root),
  ]);
  const note = (name: string, fields: readonly string[]) =>
    writeFileSync(join(set.directory, name), fields.join('\0'), { mode: 0o600 });
  note('guarded', guarded);
  note('about', ['at', `${Date.now()}`, 'workspace', workspace]);
  // The sweep takes it as soon as no sandbox has it.
  if (policy.changes === 'discard') note(DISCARDED, []);
  holderOf(policy).set = set;
  return set;
}

/** Returns what git obeys in a directory: hooks and configurations that a configuration names, and its own. */
function obeyedByGit(root: string): readonly string[] {
  const { directories, obeyed } = gitPlaces(root);
  return [...obeyed, ...directories.flatMap(obeyedIn)];
}
