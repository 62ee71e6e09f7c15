import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { LIMITS } from '../../../support/limits.js';
import { where } from '../../../support/needs.js';
import { useSessionTools } from '../../../support/session.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const newSession = useSessionTools(useFolder());

test(
  'a call that runs out of memory is told so by the group of the shell, and no other call is',
  where(LIMITS),
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
