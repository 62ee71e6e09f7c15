import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

leavesNothingBehind();
const folder = useFolder();

const xs = (count: number) => `head -c ${count} /dev/zero | tr '\\0' x`;

test('a file with afterBytes is created only by long output', async () => {
  const path = folder.file('short');
  const result = await run('echo hi', { spill: { path, afterBytes: 100 } });
  expect(result).not.toHaveProperty('spill');
  expect(existsSync(path)).toBe(false);
});

test('for any limits, the file has all of the output or does not exist', async () => {
  let runs = 0;
  const size = fc.integer({ min: 0, max: 300 });
  await fc.assert(
    fc.asyncProperty(size, size, size, fc.array(size), async (head, tail, afterBytes, sizes) => {
      runs += 1;
      const path = folder.file(`property-${runs}`);
      const limits = { headBytes: head, tailBytes: tail };
      const commands = sizes.map((count) => `printf '%${count}s' ''`);
      const command = ['true', ...commands].join('; ');
      const result = await run(command, { ...limits, spill: { path, afterBytes } });
      const bytes = sizes.reduce((sum, count) => sum + count, 0);
      if (bytes <= Math.min(afterBytes, head + tail)) {
        expect(result).not.toHaveProperty('spill');
        expect(existsSync(path)).toBe(false);
      } else {
        expect(result.spill).toEqual({ path, bytes, dropped: 0 });
        expect(readFileSync(path, 'utf8')).toBe(' '.repeat(bytes));
      }
    }),
    { numRuns: 100 },
  );
});

test('a stream of many megabytes is in it from the first byte on, and goes on being counted', async () => {
  const path = folder.file('long');
  const result = await run(`${xs(30_000_000)}; echo end`, {
    spill: { path, afterBytes: 50_000, maxBytes: 20_000_000 },
  });
  expect(result.spill).toEqual({ path, bytes: 20_000_000, dropped: 10_000_004 });
  expect(result.output).toMatchObject({ total: { bytes: 30_000_004 }, lastLineBytes: 30_000_003 });
});

test('chunks come in order while the file is created', async () => {
  const path = folder.file('chunks');
  let heard = '';
  await run('for i in $(seq 1 40); do seq 1 $((i * 20)); sleep 0.01; done', {
    spill: { path, afterBytes: 5000 },
    onOutput: ({ text }) => {
      heard += text;
    },
  });
  expect(heard).toBe(readFileSync(path, 'utf8'));
});

test('D6: a file that was removed meanwhile is reported', async () => {
  const path = folder.file('removed');
  const result = await run(`echo on; sleep 0.1; rm ${path}; echo off`, { spill: path });
  expect(result.spill).toEqual({
    path,
    bytes: 7,
    dropped: 0,
    error: { code: 'ENOENT', errno: 2, message: 'the file was removed meanwhile' },
  });
});

test('D6: a file that was truncated or written to meanwhile is reported', async () => {
  const path = folder.file('changed');
  const truncated = await run(`echo on; sleep 0.1; : >${path}`, { spill: path });
  expect(truncated.spill?.error).toMatchObject({
    code: 'EIO',
    message: 'the file was changed meanwhile: it has 0 bytes',
  });
  const longer = await run(`echo on; sleep 0.1; echo more >>${path}`, { spill: path });
  expect(longer.spill?.error).toMatchObject({ code: 'EIO' });
});

test('D6: a file that two commands write at once is reported to both', async () => {
  const path = folder.file('shared');
  const both = ['echo a; sleep 0.2', 'echo b; sleep 0.2'].map((text) => run(text, { spill: path }));
  for (const { spill } of await Promise.all(both)) {
    expect(spill?.error).toMatchObject({ code: 'EBUSY' });
  }
  expect((await run('echo c', { spill: path })).spill).toEqual({ path, bytes: 2, dropped: 0 });
});

test('D6: a device keeps nothing, and may belong to another user', async () => {
  const both = [run('echo a', { spill: '/dev/null' }), run('echo b', { spill: '/dev/null' })];
  for (const { spill } of await Promise.all(both)) expect(spill).not.toHaveProperty('error');
});
