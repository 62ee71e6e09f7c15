import { describe, expect, test } from 'vitest';
import { InputError, type LaunchError, type MergedResult, run } from '../../src/index.js';
import { useFar } from '../support/far.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { LIMITS } from '../support/limits.js';
import { where } from '../support/needs.js';
import { failureOf, printed } from '../support/results.js';

const far = await useFar();

const WRITE = 'touch /usr/written; echo "$?"';
const IN_SANDBOX = { sandbox: 'read-only', cwd: '/usr' } as const;
const seen = (call: Promise<MergedResult>) =>
  call.then(
    (result) => ({ outcome: result.outcome, printed: printed(result) }),
    ({ step, code }: LaunchError) => ({ step, code }),
  );
// First of all: what a sandbox has of its own lasts.
const here = await seen(run(WRITE, IN_SANDBOX));
leavesNothingBehind();

/** Whether commands can be given limits of memory here, by a control group. */
describe('limits of a command on a far side', () => {
  test('of processor time are kept', async () => {
    const burn = 'while :; do :; done';
    const { outcome, limits } = await far.run(burn, { limits: { cpuSeconds: 1 } });
    expect(limits).toEqual({ cpuSeconds: 'rlimit', reached: ['cpuSeconds'] });
    expect(outcome).toEqual({ kind: 'signaled', signal: 'SIGXCPU' });
  });

  test(
    'of memory are kept there, and the result tells the cause of the end',
    where(LIMITS),
    async () => {
      const eat = `/usr/bin/python3 -c 'b = bytearray(200 << 20)'`;
      const limits = { memoryBytes: 64 << 20 };
      const result = await far.run(eat, { limits });
      expect(result).toMatchObject({ outOfMemory: 'yes', limits: { memoryBytes: 'group' } });
      const fed = await far.run('wc -c', { limits, input: 'x'.repeat(500_000) });
      expect(printed(fed)).toBe('500000\n');
      const controller = new AbortController();
      const running = far.run('sleep 9', { limits, signal: controller.signal });
      controller.abort();
      expect((await running).outcome).toMatchObject({ kind: 'cancelled', by: 'signal' });
    },
  );

  test('that are not valid are named', async () => {
    const wrong = await failureOf(far.run('true', { limits: { processes: 0 } }));
    expect(wrong).toBeInstanceOf(InputError);
    expect((wrong as Error).message).toMatch(/^limits\.processes: /);
  });
});

test('a sandbox is that of the far side, or is refused as here', async () => {
  expect(await seen(far.run(WRITE, IN_SANDBOX))).toEqual(here);
});
