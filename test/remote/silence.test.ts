import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/remote/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { FAR_BUILT, FAR_SIDE, STATIC_FAR } from '../support/far.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';

leavesNothingBehind();
const folder = useFolder();

/** A far side of which the pid is known. */
async function start(side: readonly string[]) {
  const file = folder.file('pid');
  const command = ['bash', '-c', `echo $$ >${file}; exec "$@"`, 'bash', ...side];
  const far = await connect({ command, silenceMs: 1500 });
  return { far, pid: Number(readFileSync(file, 'utf8')) };
}

function testSilenceOf(side: readonly string[]): void {
  test('R1: the calls of a far side that stands still have an end', async () => {
    const { far, pid } = await start(side);
    const running = failureOf(far.run(longSleep(183), { timeoutMs: 300 }));
    await eventually(() => expect(sleeping(183)).toHaveLength(1));
    process.kill(pid, 'SIGSTOP');
    expect(await running).toMatchObject({
      name: 'WorkerLostError',
      message: expect.stringMatching(/nothing was heard for [1-4] seconds$/),
    });
    process.kill(pid, 'SIGCONT');
    await eventually(() => expect(sleeping(183)).toEqual([]));
    await far.dispose();
  });

  test('R1: a far side of a quiet command is not silent', async () => {
    const { far } = await start(side);
    expect(printed(await far.run('sleep 4; echo done'))).toBe('done\n');
    await far.dispose();
  });

  test('R1: a far side that stands still without a call is waited for', async () => {
    const { far, pid } = await start(side);
    process.kill(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 4000));
    process.kill(pid, 'SIGCONT');
    expect(printed(await far.run('echo back'))).toBe('back\n');
    await far.dispose();
  });
}

describe('a far side', () => testSilenceOf(FAR_SIDE));
describe('a far side without Node', where(FAR_BUILT), () =>
  testSilenceOf([STATIC_FAR, 'serve', '--stdio']),
);
