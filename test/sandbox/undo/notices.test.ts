import { expect, test } from 'vitest';
import { toReport } from '../../../src/engine/told/report.js';
import { type SandboxReport, sandboxNotices } from '../../../src/index.js';

type Counts = NonNullable<SandboxReport['changes']>;

const NONE: Counts = {
  state: 'made',
  ...{ created: 0, changed: 0, deleted: 0, renamed: 0 },
  ...{ complete: true, unseen: [], unrevertable: [] },
};

const told = (changes: Partial<Counts>): readonly string[] =>
  sandboxNotices({ ...toReport('write=none undo=journal'), changes: { ...NONE, ...changes } });

test.each<[Partial<Counts>, readonly string[]]>([
  [{}, []],
  [{ created: 3, changed: 8, deleted: 1 }, ['Changed 12 files (3 created, 8 changed, 1 deleted).']],
  [{ changed: 1 }, ['Changed 1 file (1 changed).']],
  [{ renamed: 2 }, ['Changed 2 files (2 renamed).']],
  [
    { state: 'held', created: 1 },
    ['Held, not in effect: 1 file (1 created). The user can accept them.'],
  ],
  [{ state: 'discarded', deleted: 2 }, ['Discarded, not in effect: 2 files (2 deleted).']],
  [
    { complete: false, unseen: ['a 32-bit program ran'] },
    ['Not all changes are known: a 32-bit program ran.'],
  ],
  [{ complete: false }, ['Not all changes are known: some were not seen.']],
  [
    { deleted: 1, unrevertable: [{ path: '/a\n', reason: 'too long' }] },
    ['Changed 1 file (1 deleted).', "Can't be taken back: /a\\x0a (too long)."],
  ],
])('of %j a model is told so', (changes, lines) => {
  expect(told(changes)).toEqual(lines);
});

test('of very many that can not be taken back a model is told three', () => {
  const unrevertable = Array.from({ length: 20 }, (_, at) => ({ path: `/f${at}`, reason: 'full' }));
  expect(told({ unrevertable, moreUnrevertable: 80 })).toEqual([
    "Can't be taken back: /f0 (full), /f1 (full), /f2 (full) and 97 more.",
  ]);
});

test('the id of a journal is told beside what enforces undo', () => {
  const { enforced, undoId } = toReport('write=namespace undo=journal undo=0123456789abcdef');
  expect(enforced.undo).toBe('journal');
  expect(undoId).toBe('0123456789abcdef');
  const before = toReport('undo=0123456789abcdef write=namespace undo=journal');
  expect(before).toMatchObject({ enforced: { undo: 'journal' }, undoId: '0123456789abcdef' });
  expect(toReport('write=namespace').enforced.undo).toBe('none');
  expect(toReport('write=namespace undo=none')).not.toHaveProperty('undoId');
});
