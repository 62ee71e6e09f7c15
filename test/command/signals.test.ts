import { expect, test } from 'vitest';
import { run, spawn } from '../../src/index.js';
import { cli } from '../support/cli.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { answerOf, usePlainTools } from '../support/plain.js';

leavesNothingBehind();
const plain = usePlainTools();

test.each([
  [34, 'SIGRTMIN', 162],
  [35, 'SIGRTMIN+1', 163],
  [63, 'SIGRTMAX-1', 191],
  [64, 'SIGRTMAX', 192],
])('C2: death by signal %i is %s everywhere, and exit code %i', async (number, name, code) => {
  const command = `kill -${number} $$; sleep 10`;
  expect((await run(command)).outcome).toEqual({ kind: 'signaled', signal: name });
  expect(await answerOf(plain(), command)).toEqual({
    error: `Killed by ${name}.`,
    stdout: '',
    stderr: '',
    exitCode: code,
  });
  const { code: exitCode, stderr } = await cli('run', command);
  expect({ exitCode, stderr }).toEqual({ exitCode: code, stderr: `forkline: ended by ${name}\n` });
});

test('C2: a signal that the engine cannot send is refused by name', async () => {
  await using live = await spawn('sleep 10');
  await expect(live.signal('SIGRTMIN+1' as NodeJS.Signals)).rejects.toThrow(
    'signal: expected the name of a signal, such as SIGINT, got "SIGRTMIN+1"',
  );
});
