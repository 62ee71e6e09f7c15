import { expect, test } from 'vitest';
import { useAsking } from '../../support/exec.js';
import { runHost } from '../../support/hosts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';

leavesNothingBehind(1);
const asking = useAsking();

test('a host that is stopped for a moment is told of each program afterwards', async () => {
  const told = await runHost<number>('told-late', { args: [asking().cwd, '1200'] });
  // The shell, sleep and seq are the others.
  expect(told).toBe(1203);
});
