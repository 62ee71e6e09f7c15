import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { EngineProcess } from '../../src/engine/process.js';
import { run } from '../../src/index.js';
import { leavesNothingBehind } from '../support/leftovers.js';

leavesNothingBehind();

test('I4: a fault while an event is handled is a warning, and other commands are told of theirs', async () => {
  const { start } = EngineProcess;
  vi.spyOn(EngineProcess, 'start').mockImplementationOnce((owner, command, events) => {
    const ended = (): never => {
      throw new Error('a fault of our own');
    };
    return start(owner, command, { started: (pid) => events.started?.(pid), ended });
  });
  const warned = once(process, 'warning');
  // This one is never told.
  void run('true');
  const [{ message }] = await warned;
  expect(message).toBe('An event of a command could not be handled: Error: a fault of our own');
  expect((await run('echo hi')).outcome).toEqual({ kind: 'exited', exitCode: 0 });
});
