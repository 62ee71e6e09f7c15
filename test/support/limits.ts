import { LimitGroups } from '../../src/command/limits/groups.js';
import { type Need, need } from './needs.js';

/** Whether a control group can be made here. */
async function canLimit(): Promise<boolean> {
  try {
    const made = await LimitGroups.make({ memoryBytes: 64 << 20, processes: 20 });
    await made.remove();
    return made.memoryBy === 'group';
  } catch {
    return false;
  }
}

/** Limits of all processes of a command together. */
export const LIMITS: Need = need(await canLimit(), 'no control group may be made here');
