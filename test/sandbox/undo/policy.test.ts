import { expect, test } from 'vitest';
import { createBashTool, detach, run, type SandboxPolicy } from '../../../src/index.js';
import { readSandbox } from '../../../src/sandbox/read-policy.js';
import { resolveSandbox } from '../../../src/sandbox/resolve.js';
import { withUndo } from '../../../src/sandbox/undo/with-undo.js';
import { useState } from '../../support/held.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';

leavesNothingBehind();
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();

const read = (undo: unknown, more: SandboxPolicy = {}) =>
  readSandbox({ ...more, undo } as SandboxPolicy);

test.each([true, false, {}, { maxBytes: 0 }, { maxBytes: 5, whenFull: 'refuse' }, null])(
  'undo may be %j',
  (undo) => {
    expect(() => read(undo)).not.toThrow();
  },
);

test.each<[unknown, string]>([
  ['yes', 'sandbox.undo: expected true, false or { maxBytes, whenFull }, got "yes"'],
  [[], 'sandbox.undo: expected true, false or { maxBytes, whenFull }, got []'],
  [{ maxBytes: -1 }, 'sandbox.undo.maxBytes: expected a number of bytes, 0 or more, got -1'],
  [{ maxBytes: '1G' }, 'sandbox.undo.maxBytes: expected a number of bytes, 0 or more, got "1G"'],
  [{ whenFull: 'stop' }, `sandbox.undo.whenFull: expected 'go-on' or 'refuse', got "stop"`],
  [{ max: 1 }, 'sandbox.undo.max: not known here'],
])('undo is not %j', (undo, message) => {
  expect(() => read(undo)).toThrow(message);
});

test('undo is not with Landlock alone', () => {
  const message =
    "sandbox.undo: expected false with require 'landlock', by which no change is seen, got true";
  expect(() => read(true, { require: 'landlock' })).toThrow(message);
  expect(() => read(false, { require: 'landlock' })).not.toThrow();
});

test('the option is checked by its own name, on every road', async () => {
  const undo = { maxBytes: -1 };
  const message = 'undo.maxBytes: expected a number of bytes, 0 or more, got -1';
  await expect(run('true', { undo })).rejects.toThrow(message);
  await expect(detach('true', { undo })).rejects.toThrow(message);
  for (const contract of ['plain', 'modes', 'session', 'workspace'] as const) {
    expect(() => createBashTool({ contract, cwd: '/', undo })).toThrow(message);
  }
});

/** Returns the words of a plan that are about undo. */
function wordsOf(policy: SandboxPolicy): readonly string[] {
  const words = resolveSandbox(policy, newFolder()).plan.split('\0');
  const pairs = words.map((word, at) => [word, words[at + 1] ?? '']);
  return pairs.filter(([word = '']) => word.startsWith('undo-')).map((pair) => pair.join(' '));
}

test('the plan says where journals go, and how much they may have', () => {
  const at = `undo-at ${state.path}/forkline/undo`;
  expect(wordsOf({ undo: true })).toEqual([at, `undo-bytes ${1024 ** 3}`]);
  expect(wordsOf({ undo: { maxBytes: 7, whenFull: 'refuse' } })).toEqual([
    at,
    'undo-bytes 7',
    'undo-full refuse',
  ]);
  expect(wordsOf({ undo: { whenFull: 'go-on' } })).toEqual([at, `undo-bytes ${1024 ** 3}`]);
  expect(wordsOf({ undo: false })).toEqual([]);
  expect(wordsOf({})).toEqual([]);
});

test('commands do not see the journals', () => {
  const { hidden } = resolveSandboxOf(withUndo(undefined, true));
  expect(hidden).toContain(`${state.path}/forkline`);
});

function resolveSandboxOf(option: unknown): { readonly hidden: readonly string[] } {
  const policy = readSandbox(option);
  if (policy === undefined) throw new Error('there is no policy');
  return resolveSandbox(policy, newFolder());
}

test('the option is put into the sandbox, in place of what that says', () => {
  expect(withUndo('read-only', true)).toEqual({ mode: 'read-only', undo: true });
  expect(withUndo({ undo: true }, undefined)).toEqual({ undo: true });
  expect(withUndo({ undo: true }, false)).toEqual({ undo: false });
  expect(withUndo({ network: 'full', undo: true }, { maxBytes: 1 })).toEqual({
    network: 'full',
    undo: { maxBytes: 1 },
  });
  const open = { mode: 'danger-full-access', processes: 'host', undo: true };
  expect(withUndo(undefined, true)).toEqual(open);
  expect(withUndo('danger-full-access', true)).toEqual(open);
  expect(withUndo(undefined, false)).toBeUndefined();
  expect(withUndo('danger-full-access', false)).toBe('danger-full-access');
  expect(withUndo('nonsense', true)).toBe('nonsense');
});

test('a model is told of no sandbox where nothing is confined', () => {
  const descriptions = [true, false].map(
    (undo) => createBashTool({ contract: 'plain', cwd: '/', undo }).description,
  );
  expect(descriptions[0]).toBe(descriptions[1]);
});

test('the same option makes the same policy: sandboxes are kept by it', () => {
  expect(withUndo(undefined, true)).toBe(withUndo('danger-full-access', true));
  const given: SandboxPolicy = {};
  expect(withUndo(given, { maxBytes: 9 })).toBe(withUndo(given, { maxBytes: 9 }));
  expect(withUndo('read-only', true)).toBe(withUndo('read-only', true));
});
