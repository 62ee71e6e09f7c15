import { expect, test } from 'vitest';
import { LimitGroups } from '../../../../src/command/limits/groups.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { useSessionTools } from '../../../support/session.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const newSession = useSessionTools(useFolder());

/** Whether a control group can be made here. */
async function canLimit(): Promise<boolean> {
  const made = await LimitGroups.make({ memoryBytes: 64 << 20 }).catch(() => undefined);
  await made?.remove();
  return made?.memoryBy === 'group';
}

test.runIf(await canLimit())(
  'a call that runs out of memory is told so by the group of the shell, and no other call is',
  async () => {
    const tool = newSession({ persistent: true, limits: { memoryBytes: 64 << 20 } });
    const call = async (command: string) => {
      const result = await tool.execute({ command });
      const { outOfMemory, limits } = result.details.receipt ?? {};
      expect(limits).toEqual({ memoryBytes: 'group' });
      return [outOfMemory, textOf(result).includes('Out of memory: ')];
    };
    expect(await call('true')).toEqual([undefined, false]);
    expect(await call("/usr/bin/python3 -c 'b = bytearray(200 << 20)'")).toEqual(['yes', true]);
    expect(await call('true')).toEqual([undefined, false]);
    expect(await call('exit 3')).toEqual([undefined, false]);
  },
);
