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

test(
  'W13: a call that runs into the limit of processes is told so, and no other call is',
  where(LIMITS),
  async () => {
    const tool = newSession({ persistent: true, limits: { processes: 12 } });
    const call = async (command: string) => {
      const result = await tool.execute({ command });
      const isTold = textOf(result).includes('The limit of processes was reached');
      return [result.details.receipt?.limits?.reached, isTold];
    };
    expect(await call('true')).toEqual([undefined, false]);
    const many = 'for n in {1..20}; do sleep 0.3 & done 2>/dev/null; wait';
    expect(await call(many)).toEqual([['processes'], true]);
    expect(await call('true')).toEqual([undefined, false]);
  },
);

test('W13: a call whose program ran out of processor time is told so', async () => {
  const tool = newSession({ persistent: true, limits: { cpuSeconds: 1 } });
  const spent = await tool.execute({ command: 'bash -c "while :; do :; done"' });
  expect(textOf(spent)).toContain('The limit of processor time was reached');
  expect(textOf(await tool.execute({ command: 'true' }))).not.toContain('limit');
});
