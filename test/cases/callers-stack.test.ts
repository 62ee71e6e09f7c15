import { describe, expect, test } from 'vitest';
import { createBashTool, type MergedResult, run, spawn } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf } from '../support/results.js';
import { useWorkspaceTools } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const toolOf = useWorkspaceTools(folder);

/** By its name it is found in a stack. */
async function whoCalled<T>(call: () => Promise<T>): Promise<T> {
  return await call();
}

async function stackOf(call: () => Promise<unknown>): Promise<string> {
  const error = await failureOf(whoCalled(call));
  if (error instanceof Error) return error.stack ?? '';
  throw new Error('expected an Error');
}

const nowhere = () => ({ cwd: folder.file('nowhere') });

describe('H11: the stack names the caller', () => {
  test('H11: for a command that cannot be launched', async () => {
    expect(await stackOf(() => run('true', nowhere()))).toMatch(/^LaunchError: [\s\S]*whoCalled/);
    expect(await stackOf(() => spawn('true', nowhere()))).toMatch(/^LaunchError: [\s\S]*whoCalled/);
  });

  test.each(['workspace', 'modes', 'session'] as const)(
    'H11: for a call of %s whose command cannot be launched',
    async (contract) => {
      const tool = createBashTool({ contract, cwd: folder.path, shell: ['/no/bash'] });
      expect(await stackOf(() => tool.execute({ command: 'true' }))).toContain('whoCalled');
      await tool.dispose();
    },
  );

  test('H11: for a call whose time was up, or that was cancelled', async () => {
    const tool = toolOf({ timeout: { min: 0 }, graceMs: 100 });
    const input = { command: 'sleep 100', timeout: 0.1 };
    expect(await stackOf(() => tool.execute(input))).toContain('whoCalled');
    const signal = AbortSignal.timeout(100);
    const call = () => tool.execute({ command: 'sleep 100' }, { signal });
    expect(await stackOf(call)).toContain('whoCalled');
  });

  test('H11: a listener’s own error is unchanged', async () => {
    const own = new Error('mine');
    const call = run('echo x', {
      onOutput: () => {
        throw own;
      },
    }) as Promise<MergedResult>;
    expect(await failureOf(call)).toBe(own);
  });
});
