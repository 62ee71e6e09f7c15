import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { neverStarted } from '../../../src/engine/result.js';
import { toReport } from '../../../src/engine/told/report.js';
import { type HeldChange, type RunResult, receiptOf, sandboxNotices } from '../../../src/index.js';
import { withHeld, withHeldRows } from '../../../src/sandbox/held/report.js';
import { holdBack, useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';

leavesNothingBehind();
const state = useFolder();
useState(() => state.path);

const REQUEST = {
  ...{ command: 'x', argv: undefined, separate: false, timeoutMs: undefined, spillPath: undefined },
} as const;

/** The result of a command whose engine told these lines. */
function told(lines: string): RunResult {
  return { ...neverStarted(REQUEST, 'kill'), sandbox: toReport(lines) };
}

const notices = (held: readonly HeldChange[], writable = ['/w', '/w/.git']): readonly string[] =>
  sandboxNotices({ ...toReport('write=namespace'), held, writable });

const change = (path: string, more: Partial<HeldChange> = {}): HeldChange => ({
  ...{ id: '0', path, reason: 'setting', at: 0 },
  ...more,
});

test('what the engine tells by its ids is in the result, and in the receipt as plain data', async () => {
  const path = join(state.path, 'work/.git/config');
  const id = holdBack(state.path, { path, keys: ['core.fsmonitor'], content: 'x\n', at: 5 });
  const result = await withHeld(told(`write=namespace held=${id} socket=40 held=${id}`));
  const row = { id, path, reason: 'setting', keys: ['core.fsmonitor'], at: 5 };
  expect(result.sandbox).not.toHaveProperty('heldIds');
  expect(result.sandbox?.enforced).toEqual({ write: 'namespace', settings: 'mount', undo: 'none' });
  expect(result.sandbox?.denials).toHaveLength(1);
  expect(result.sandbox?.held).toEqual([row]);
  expect(result.heldBack).toMatchObject([{ ...row, diff: expect.stringContaining('+x\n') }]);
  const receipt = await receiptOf(result);
  expect(receipt.sandbox?.held).toEqual([row]);
  expect(receipt.troubles[0]).toMatch(/^Held back, not in effect: \S+ \(core\.fsmonitor\)/);
  expect(structuredClone(receipt)).toEqual(receipt);
  const [one] = result.heldBack;
  await one?.drop();
  const later = await withHeld(told(`held=${id}`));
  expect(later.heldBack).toEqual([]);
  expect(later.sandbox?.unseen).toEqual([
    'what was held back has been accepted, dropped or displaced since',
  ]);
});

test('without a held change the result is as it was', async () => {
  const result = told('write=namespace settings=gate');
  expect(await withHeld(result)).toBe(result);
  expect(result.heldBack).toEqual([]);
  expect(result.sandbox?.enforced.settings).toBe('gate');
  expect(await withHeldRows(toReport('write=none'))).toEqual(toReport('write=none'));
});

test('what was displaced by the same change is not told, and what is damaged is', async () => {
  const path = join(state.path, 'work/.npmrc');
  const id = holdBack(state.path, { path, reason: 'unknown-content' });
  const bad = holdBack(state.path, { path, reason: 'else' });
  const lines = `held=${'f'.repeat(16)} held=${id} held=${bad} held=../../etc`;
  const { sandbox } = await withHeld(told(lines));
  expect(sandbox?.held).toMatchObject([{ id }]);
  expect(sandbox?.unseen).toEqual([
    `a change was held back as ${bad}, and can't be read: the record has an unknown word: else`,
  ]);
});

test('of very many the last are looked up: the first are those that were displaced', async () => {
  const path = (at: number) => join(state.path, `work/.git/hooks/${at}`);
  const gone = Array.from({ length: 30 }, (_, at) => at.toString(16).padStart(16, 'e'));
  const ids = Array.from({ length: 120 }, (_, at) => holdBack(state.path, { path: path(at) }));
  const told = toReport([...gone, ...ids].map((id) => `held=${id}`).join(' '));
  const { held, unseen } = await withHeldRows(told);
  expect(held?.map(({ id }) => id)).toEqual(ids.slice(-100));
  expect(unseen).toEqual([
    '20 more changes were held back: forkline held lists them',
    'what else was held back has been accepted, dropped or displaced since',
  ]);
});

describe('the line for a model', () => {
  test('names each file as it is called in the workspace, and why', () => {
    const all = [
      change('/w/.git/config', { keys: ['core.fsmonitor'] }),
      change('/w/.mcp.json', { reason: 'unknown-content' }),
    ];
    expect(notices(all)).toEqual([
      'Held back, not in effect: .git/config (core.fsmonitor), .mcp.json (content that is not in ' +
        "this repository's history). The user can accept them. All else was written.",
    ]);
  });

  test('tells one that was tried twice once, and of many the first', () => {
    const one = change('/w/.vscode', { reason: 'removal' });
    expect(notices([one, { ...one, id: '1' }])).toEqual([
      'Held back, not in effect: .vscode (its removal). The user can accept it. All else was written.',
    ]);
    const many = Array.from({ length: 8 }, (_, at) => change(`/w/${at}`));
    expect(notices(many)[0]).toContain('4 (a setting), 3 more. The user can accept them.');
    const keys = ['a.a', 'b.b', 'c.c', 'd.d', 'e.e', 'f.f'];
    expect(notices([change('/w/.git/config', { keys })])[0]).toContain(
      '(a.a, b.b, c.c, d.d, 2 more keys)',
    );
  });

  test('has the whole path where no workspace has it, and nothing that steers a terminal', () => {
    const [line] = notices(
      [change('/repo/.git/config', { keys: ['x\u001b[2J.y'] })],
      ['/w', '/repo/.git'],
    );
    expect(line).toContain('/repo/.git/config (x\\x1b[2J.y)');
    expect(notices([change('/w/a\nb')], ['/'])[0]).toContain(' /w/a\\x0ab (');
  });
});
