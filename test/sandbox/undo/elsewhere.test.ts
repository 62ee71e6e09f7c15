import { expect, test } from 'vitest';
import { neverStarted } from '../../../src/engine/result.js';
import type { Change, Changes, HeldChanges } from '../../../src/index.js';
import { toldFromThere } from '../../../src/sandbox/held/elsewhere.js';
import { changeFacts, changesThere } from '../../../src/sandbox/undo/elsewhere.js';

const REQUEST = {
  ...{ command: 'x', argv: undefined, separate: false, timeoutMs: undefined, spillPath: undefined },
} as const;

function changes(count: number): Changes {
  const list: Change[] = Array.from({ length: count }, (_, at) => {
    return { kind: 'created', path: `/f${at}`, type: 'file', size: 1 };
  });
  return {
    state: 'made',
    ...{ id: '0123456789abcdef', list, more: 5, created: count },
    ...{ changed: 0, deleted: 0, renamed: 0, complete: true, unseen: [], unrevertable: [] },
    revert: () => Promise.reject(new Error('not here')),
  };
}

const over = (given: Changes): Changes | HeldChanges | undefined => {
  const sent = JSON.parse(JSON.stringify({ changes: changeFacts(given) }));
  return toldFromThere(neverStarted(REQUEST, 'kill'), sent).changes;
};

test('a far result has what was changed there, and says where it is taken back', async () => {
  const told = over(changes(2));
  const { revert: _, ...facts } = changes(2);
  expect({ ...told }).toEqual(facts);
  const where =
    'the changes are on the far side: run `forkline revert 0123456789abcdef` there to take them back';
  await expect(told?.revert()).rejects.toThrow(where);
});

test('what is held there is accepted and dropped there', async () => {
  const { revert: _, ...facts } = changes(1);
  const told = changesThere({ ...facts, state: 'held' });
  if (told.state !== 'held') throw new Error('not held');
  await expect(told.accept()).rejects.toThrow(
    'the changes are held on the far side: run `forkline accept 0123456789abcdef` there to put them into effect',
  );
  await expect(told.revert()).rejects.toThrow(
    'run `forkline revert 0123456789abcdef` there to drop them',
  );
});

test('of a long list the beginning is sent, and how much is missing', () => {
  const told = over(changes(1200));
  expect(told?.list).toHaveLength(1000);
  expect(told).toMatchObject({ more: 205, created: 1200 });
});

test('where nothing was changed there is nothing to take back', async () => {
  const { id: _, ...nothing } = changes(0);
  const told = over({ ...nothing, more: 0 });
  expect(await told?.revert()).toEqual({ reverted: [], conflicts: [], lost: [] });
  expect(toldFromThere(neverStarted(REQUEST, 'kill'), {}).changes).toBeUndefined();
});
