import * as path from 'node:path';
import { expect, test } from 'vitest';
import { imported, latePeer } from '../../src/support/peers/load.js';

test('I2: a peer is what the program has imported, else what it would require', () => {
  const required = latePeer<typeof path>('node:path', import.meta.url);
  expect(required().join('a', 'b')).toBe('a/b');
  const own = { join: () => 'own' };
  imported.set('node:path', own);
  try {
    expect(latePeer<typeof own>('node:path', import.meta.url)()).toBe(own);
  } finally {
    imported.delete('node:path');
  }
  expect(required().join).toBe(path.join);
});

test('I2: a peer that is missing is an error at the call, and not before', () => {
  for (const from of [import.meta.url, new URL(import.meta.url).pathname, undefined]) {
    const missing = latePeer('@forkline/not-there', from);
    expect(missing).toThrow(expect.objectContaining({ code: 'MODULE_NOT_FOUND' }));
  }
});
