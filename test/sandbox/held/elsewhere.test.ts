import { join } from 'node:path';
import { expect, test } from 'vitest';
import { neverStarted } from '../../../src/engine/result.js';
import { type Held, heldBack } from '../../../src/index.js';
import { heldFacts, toldFromThere } from '../../../src/sandbox/held/elsewhere.js';
import { holdBack, useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';

leavesNothingBehind();
const state = useFolder();
useState(() => state.path);

const REQUEST = {
  ...{ command: 'x', argv: undefined, separate: false, timeoutMs: undefined, spillPath: undefined },
} as const;

test('a far result has what is held there, with its diff, and says where it is accepted', async () => {
  const path = join(state.path, '.git/config');
  const id = holdBack(state.path, { path, keys: ['alias.x'], content: 'x\n' });
  const sent = JSON.parse(JSON.stringify({ heldBack: heldFacts(await heldBack()) }));
  const result = toldFromThere(neverStarted(REQUEST, 'kill'), sent);
  const [one] = result.heldBack;
  expect(one).toEqual({
    ...{ id, path, reason: 'setting', keys: ['alias.x'], at: expect.any(Number) },
    diff: expect.stringContaining('+x\n'),
  });
  const where = `${path}: the change is held on the far side: run \`forkline held accept ${id}\` there`;
  await expect(one?.accept()).rejects.toThrow(where);
  await expect(one?.drop()).rejects.toThrow(`held drop ${id}\` there`);
  expect(toldFromThere(neverStarted(REQUEST, 'kill'), {}).heldBack).toEqual([]);
});

test('long diffs are not sent', () => {
  const one = { id: '0', path: '/x', reason: 'setting', at: 0 } as const;
  const held = Array.from({ length: 6 }, () => ({ ...one, diff: 'x'.repeat(60_000) }));
  const sent = heldFacts(held as unknown as readonly Held[]);
  expect(sent?.map(({ diff }) => diff.length > 1000)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(sent?.at(-1)?.diff).toMatch(/^\[the diffs are too long to be sent/);
  expect(heldFacts([])).toBeUndefined();
});
