import { makeStateRoom } from '../../support/directories/state-directory.js';
import { InputError } from '../../support/errors.js';
import type { SandboxPolicy } from '../policy.js';

const DEFAULT_MOST_BYTES = 1024 ** 3;

/**
 * Makes the entries of a plan by which what commands change can be taken back. Empty: it is not asked for, or the
 * user has no directory for it and the policy does without.
 *
 * @throws {InputError} The user has no directory for it, and the policy requires all.
 */
export function undoEntries({ undo, require = 'all' }: SandboxPolicy): string {
  if (!undo) return '';
  const store = makeStateRoom('undo');
  if (store === undefined) {
    if (require === 'best-effort') return '';
    throw new InputError(
      'sandbox.undo: expected false, since the user has no directory for it: XDG_STATE_HOME, or ~/.local/state, that no other user owns',
    );
  }
  const { maxBytes = DEFAULT_MOST_BYTES, whenFull } = undo === true ? {} : undo;
  const full = whenFull === 'refuse' ? 'undo-full\0refuse\0' : '';
  return `undo-at\0${store}\0undo-bytes\0${maxBytes}\0${full}`;
}
