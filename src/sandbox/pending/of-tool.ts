import { resolve } from 'node:path';
import type { Changes, HeldChanges } from '../../engine/undo/changes.js';
import type { SandboxPolicy } from '../policy.js';
import { readSet } from './list.js';
import { setOf } from './pending-set.js';

/** What the commands of a tool would have changed. */
export interface HeldToolChanges {
  /** Whether they can be accepted, or go with the tool. */
  readonly state: 'held' | 'discarded';
  /**
   * Reads what all its commands have changed together, also while they run. Undefined: none was run yet in a tool
   * without a directory of its own.
   *
   * @throws {Error} It is gone, or can't be read.
   */
  read(): Promise<Changes | HeldChanges | undefined>;
}

/** Returns what the commands with a tool's policy have changed; undefined: it is in effect. */
export function changesOfTool(policy: SandboxPolicy): HeldToolChanges | undefined {
  const { changes } = policy;
  if (changes !== 'hold' && changes !== 'discard') return undefined;
  const isDiscarded = changes === 'discard';
  return {
    state: isDiscarded ? 'discarded' : 'held',
    async read() {
      const set = setOf(policy);
      return set && readSet({ ...set, isDiscarded }, resolve(policy.workspace ?? '.'));
    },
  };
}
