import { InputError, showValue } from '../../support/errors.js';
import type { SandboxPolicy } from '../policy.js';

/** @throws {InputError} The value is not valid, or can't be had with the rest of the policy. */
export function checkChangesOf(policy: SandboxPolicy): void {
  const { changes } = policy;
  if (changes === undefined || changes === 'apply') return;
  if (changes !== 'hold' && changes !== 'discard') {
    const expected = "'apply', 'hold' or 'discard'";
    throw new InputError(`sandbox.changes: expected ${expected}, got ${showValue(changes)}`);
  }
  const reason = notHeld(policy);
  if (reason === undefined) return;
  throw new InputError(`sandbox.changes: expected 'apply' ${reason}, got '${changes}'`);
}

/** Returns with what no changes can be held, and why; undefined: there is nothing of that kind. */
function notHeld({ mode, require, undo, filesystem = {} }: SandboxPolicy): string | undefined {
  if (mode === 'danger-full-access') {
    return "with mode 'danger-full-access': only changes below directories that are named can be held";
  }
  if (mode === 'read-only' && (filesystem.allowWrite ?? []).length === 0) {
    return "with mode 'read-only', in which nothing is changed";
  }
  if (filesystem.allowWrite?.includes('/')) {
    return "with filesystem.allowWrite: ['/']: only changes below directories that are named can be held";
  }
  if (filesystem.tmp === 'shared')
    return "with filesystem.tmp: 'shared', whose sockets are the host's";
  if (require === 'landlock') return "with require: 'landlock', which takes no namespaces";
  return undo ? 'with undo: what is held is not in effect, and revert() drops it' : undefined;
}
